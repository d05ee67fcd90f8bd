import type { PrismaClient } from "../../gen/prisma/client.ts";

/**
 * The database, Postgres or the embedded PGlite, behind one pool. `prisma` carries plain reads, and the few writes that
 * decide nothing; every other statement is SQL through `query` (see docs/decisions/sql-beside-prisma.md). Inside
 * `transaction` use only the handle that it passes: the embedded database has one session, and the outer handle would
 * wait for itself.
 */
export interface Database extends Queryable {
  readonly kind: "postgres" | "pglite";
  readonly prisma: PrismaClient;
  /** Read committed. Commits when `work` resolves, rolls back when it rejects. */
  transaction<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
  /**
   * Runs work in one session without a transaction, for session state such as locks. A statement without parameters
   * may be a script. The session ends with `work`. Do not use the outer handle inside.
   */
  session<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
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
