import { createHash } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient } from "../../../../gen/prisma/client.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { Database, Queryable } from "./database.ts";

/** Creates the database over a pool. Closing it ends the pool. */
export function createPoolDatabase({
  kind,
  pool,
  isPooled = false,
  limits = {},
  onClosed,
}: PoolDatabaseParts): Database {
  const style = { isNamed: kind === "postgres" && !isPooled };
  const begin = [BEGIN, ...Object.entries(limits).map(setLocal)].join("; ");
  // Minimal errors contain neither the calling code nor the values of the query.
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool), errorFormat: "minimal" });
  let closed: Promise<void> | undefined;
  return {
    kind,
    isPooled,
    prisma,
    ...sqlOf(pool, style),
    transaction: (work) => withClient(pool, (client) => inTransaction(client, { style, begin }, work)),
    connections: () => ({
      busyCount: pool.totalCount - pool.idleCount,
      idleCount: pool.idleCount,
      waitingCount: pool.waitingCount,
      maxCount: pool.options.max,
    }),
    close() {
      closed ??= (async () => {
        await prisma.$disconnect();
        await pool.end();
        await onClosed?.();
      })();
      return closed;
    },
  };
}

export interface PoolDatabaseParts {
  readonly kind: Database["kind"];
  readonly pool: pg.Pool;
  /** True if a pooler may give each transaction another session of the server. Default false. */
  readonly isPooled?: boolean;
  /** Settings of the server for each transaction, in milliseconds. Default: none. */
  readonly limits?: TransactionLimits;
  /** Called once, after the pool has ended. */
  readonly onClosed?: () => Promise<void>;
}

/** Limits of a transaction, by the name of the server's setting. */
export interface TransactionLimits {
  /** The time without a statement after which the server ends the transaction. */
  readonly idle_in_transaction_session_timeout?: number;
  /** The time after which the server ends a statement. */
  readonly statement_timeout?: number;
}

/** How statements are sent. */
interface Style {
  /** True if a connection may keep prepared statements for later. */
  readonly isNamed: boolean;
}

function sqlOf(queryable: Pick<pg.ClientBase, "query">, { isNamed }: Style): Queryable {
  return {
    async query<Row>(statement: string, parameters?: readonly unknown[]) {
      // A statement without parameters uses the simple protocol, the only one that accepts scripts.
      if (parameters === undefined) return (await queryable.query(statement)).rows as Row[];
      const values = [...parameters];
      // Each connection parses and plans a statement once. There are few statements, and they are constant.
      const prepared = isNamed ? { name: nameOf(statement) } : {};
      return (await queryable.query({ ...prepared, text: statement, values })).rows as Row[];
    },
  };
}

const names = new Map<string, string>();

/** The name of a prepared statement. PostgreSQL truncates names after 63 bytes. */
function nameOf(statement: string): string {
  const known = names.get(statement);
  if (known !== undefined) return known;
  const name = `tss_${createHash("sha256").update(statement).digest("hex").slice(0, 32)}`;
  names.set(statement, name);
  return name;
}

const BEGIN = "BEGIN ISOLATION LEVEL READ COMMITTED";

/** Set for this transaction only, because a pooler does not keep the settings of a session. */
const setLocal = ([name, valueMs]: readonly [string, number]): string => `SET LOCAL ${name} = ${valueMs}`;

async function inTransaction<T>(
  client: pg.PoolClient,
  { style, begin }: { readonly style: Style; readonly begin: string },
  work: (db: Queryable) => Promise<T>,
): Promise<T> {
  await client.query(begin);
  try {
    const result = await work(sqlOf(client, style));
    await client.query("COMMIT");
    return result;
  } catch (error) {
    // Only the first failure is reported. The pool discards a connection that cannot roll back.
    await client.query("ROLLBACK").catch(() => {});
    throw error;
  }
}

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

/**
 * A pool over PGlite's only session. Other pools discard a connection after a failed statement. Here the next
 * connection would use the same session and read the remaining replies to the failed statement as its own. Therefore a
 * client always returns to the pool.
 */
export class SingleSessionPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return super.connect().then(keepOnRelease);
    super.connect((error, client, done) => {
      callback(error, client && keepOnRelease(client), () => done());
    });
    return undefined;
  }
}

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: () => void,
) => void;

function keepOnRelease(client: pg.PoolClient): pg.PoolClient {
  const release = client.release.bind(client);
  client.release = () => release();
  return client;
}

/**
 * A pool on a pooler that lends a server connection for one transaction, as pgbouncer does with
 * `pool_mode = transaction`. Nothing that a statement leaves in its session belongs to this process: the next
 * transaction gets another session, and another client gets this one. Therefore each single statement runs in a
 * transaction of its own, which carries its time limit. That costs two more round trips.
 */
export class TransactionPool extends BoundedPool {
  /** Sent before a single statement. Undefined if the server itself limits statements. */
  #begin: string | undefined;

  /** Bounds single statements from now on. */
  limitStatements(timeoutMs: number): void {
    this.#begin = `BEGIN; SET LOCAL statement_timeout = ${timeoutMs}`;
  }

  // One implementation for every overload of pg's method. Our code and Prisma's adapter use its promise.
  override query(...call: unknown[]): never {
    const begin = this.#begin;
    if (begin === undefined) return Reflect.apply(super.query, this, call) as never;
    return withClient(this, async (client) => {
      await client.query(begin);
      try {
        const result: unknown = await Reflect.apply(client.query, client, call);
        await client.query("COMMIT");
        return result;
      } catch (error) {
        // Only the first failure is reported. The pool discards a connection that cannot roll back.
        await client.query("ROLLBACK").catch(() => {});
        throw error;
      }
    }) as never;
  }
}

/** Runs work on one connection of the pool. The pool discards the connection if it breaks. */
export async function withClient<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    return await work(client);
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}

/** The budget of time for waiting. */
export class LockWait {
  readonly totalMs: number;
  readonly lockTimeoutMs: number;
  readonly #pauseMs: number;
  readonly #pause: (pauseMs: number) => Promise<unknown>;
  #leftMs: number;
  #leftForTurnMs: number;

  constructor(options: LockWaitOptions) {
    this.totalMs = Math.max(1, options.lockWaitMs ?? LOCK_WAIT_MS);
    this.lockTimeoutMs = Math.max(1, Math.min(options.lockTimeoutMs ?? LOCK_TIMEOUT_MS, this.totalMs));
    this.#pauseMs = options.pauseMs ?? PAUSE_MS;
    this.#pause = options.pause ?? setTimeout;
    this.#leftMs = this.totalMs;
    this.#leftForTurnMs = this.totalMs;
  }

  /** Called while another process migrates. Waits a little and returns true, or returns false at the time limit. */
  async turn(): Promise<boolean> {
    if (this.#leftForTurnMs <= 0) return false;
    const pauseMs = Math.min(TURN_MS, this.#leftForTurnMs);
    this.#leftForTurnMs -= pauseMs;
    await setTimeout(pauseMs);
    return true;
  }

  /** Called after an attempt without a lock. Waits and returns true, or returns false at the time limit. */
  async again(): Promise<boolean> {
    this.#leftMs -= this.lockTimeoutMs + this.#pauseMs;
    if (this.#leftMs < 0) return false;
    await this.#pause(this.#pauseMs);
    return true;
  }
}

/** The time limits of a migration's wait for locks. */
export interface LockWaitOptions {
  /** The total wait of one start for all migrations. Default 5 min. */
  readonly lockWaitMs?: number | undefined;
  /** The longest time that one attempt blocks the statements queued behind it. Default 1 s. */
  readonly lockTimeoutMs?: number | undefined;
  /** The pause between attempts, in which other statements proceed. Default 3 s. */
  readonly pauseMs?: number | undefined;
  /** Replaces the pause in tests. */
  readonly pause?: ((pauseMs: number) => Promise<unknown>) | undefined;
}

const LOCK_WAIT_MS = 300_000;
const LOCK_TIMEOUT_MS = 1_000;
const PAUSE_MS = 3_000;
const TURN_MS = 200;
