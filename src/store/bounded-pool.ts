import pg from "pg";
import { ServiceError } from "../errors/service-error.ts";

/** A pool with a bounded number of waiting callers. Further callers get DATABASE_UNAVAILABLE. */
export class BoundedPool extends pg.Pool {
  readonly #waitingMaxCount: number;

  constructor(config: BoundedPoolConfig, waitingMaxCount: number) {
    super(config);
    this.#waitingMaxCount = waitingMaxCount;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: Connect[0]): void;
  override connect(callback?: Connect[0]): Promise<pg.PoolClient> | undefined {
    if (this.waitingCount < this.#waitingMaxCount) {
      if (callback === undefined) return super.connect();
      super.connect(callback);
      return undefined;
    }
    const full = new ServiceError("DATABASE_UNAVAILABLE", "too many calls are waiting for the database");
    if (callback === undefined) return Promise.reject(full);
    callback(full, undefined, () => {});
    return undefined;
  }
}

type Connect = Parameters<typeof pg.Pool.prototype.connect>;

/** The configuration of a pool. */
export interface BoundedPoolConfig extends Omit<pg.PoolConfig, "onConnect"> {
  /** Prepares a new connection. The pool waits for it, although pg's types do not say so. */
  readonly onConnect?: (client: pg.ClientBase) => Promise<unknown>;
}
