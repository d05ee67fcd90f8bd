import type pg from "pg";
import { BoundedPool } from "./bounded-pool.ts";

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
