import type { PrismaClient } from "../../gen/prisma/client.ts";

/**
 * The database, Postgres or the embedded PGlite, behind one pool. `prisma` carries plain reads, and the few writes that
 * decide nothing; every other statement is SQL through `query` (see docs/decisions/sql-beside-prisma.md). Inside
 * `transaction` use only the handle that it passes: the embedded database has one session, and the outer handle would
 * wait for itself.
 */
export interface Database extends Queryable {
  readonly kind: "postgres" | "pglite";
  /** True if a pooler may give each transaction another session of the server. */
  readonly isPooled: boolean;
  readonly prisma: PrismaClient;
  /**
   * Read committed. Commits when `work` resolves, rolls back when it rejects. Everything that must hold for longer than
   * one statement, such as a lock or a setting, belongs to a transaction, because no session outlives it.
   */
  transaction<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
  connections(): PoolConnections;
  close(): Promise<void>;
}

/** Runs one SQL statement with positional parameters (`$1`); bigint columns arrive as bigint, bytea as Uint8Array. */
export interface Queryable {
  query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/** The numbers of connections of a pool. */
export interface PoolConnections {
  readonly busyCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  /** The upper bound of the pool. */
  readonly maxCount: number;
}
