import type { Sql } from "sql-template-tag";
import { v7 } from "uuid";
import type { PrismaClient } from "../../../../gen/prisma/client.ts";
import { type Columns, checkRows } from "./columns.ts";

/**
 * The database, Postgres or the embedded PGlite, behind one pool. `prisma` reads a row by its key, a page or a count, and
 * makes simple changes; every other statement is SQL through `query` (see docs/decisions/sql-beside-prisma.md). Inside
 * `transaction` use only the handle that it passes: the embedded database has one session, and the outer handle would
 * wait for itself.
 */
export interface Database extends Queryable, Transactor {
  readonly kind: "postgres" | "pglite";
  /** True if a pooler may give each transaction another session of the server. */
  readonly isPooled: boolean;
  readonly prisma: PrismaClient;
  connections(): PoolConnections;
  close(): Promise<void>;
}

/** Runs one SQL statement with positional parameters (`$1`); bigint columns arrive as bigint, bytea as Uint8Array. */
export interface Queryable {
  query<Row>(statement: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

/** Runs transactions. A part of a larger transaction implements it with the larger one. */
export interface Transactor {
  /**
   * Read committed. Commits when `work` resolves, rolls back when it rejects. Everything that must hold for longer than
   * one statement, such as a lock or a setting, belongs to a transaction, because no session outlives it.
   */
  transaction<T>(work: (db: Queryable) => Promise<T>): Promise<T>;
}

/** The numbers of connections of a pool. */
interface PoolConnections {
  readonly busyCount: number;
  readonly idleCount: number;
  readonly waitingCount: number;
  /** The upper bound of the pool. */
  readonly maxCount: number;
}

/** Returns a new row id, a UUID of version 7, so that ids sort by time. */
export function newId(): string {
  return v7();
}

/**
 * Runs a statement and returns its rows. Throws a TypeError unless each row has exactly the declared columns, of the
 * declared types. Values are bound in the order in which the statement has them; undefined is refused. PostgreSQL
 * prepares each text once per connection, so pass a varying list as one array, with `ANY`.
 *
 * @example
 * const [project] = await readRows(db, sql`SELECT name FROM project WHERE id = ${id}`, { name: text });
 */
export async function readRows<Row>(db: Queryable, statement: Sql, columns: Columns<Row>): Promise<Row[]> {
  return checkRows(await run(db, statement), columns);
}

/** Runs a statement and returns the number of rows of its SELECT or RETURNING. */
export async function execute(db: Queryable, statement: Sql): Promise<number> {
  return (await run(db, statement)).length;
}

async function run(db: Queryable, { text, values }: Sql): Promise<unknown[]> {
  // PostgreSQL would read it as NULL, so a forgotten value would go unnoticed.
  if (values.includes(undefined)) throw new TypeError("a value of the statement is undefined");
  return db.query(text, values);
}
