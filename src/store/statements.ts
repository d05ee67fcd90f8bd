import type { Sql } from "sql-template-tag";
import { type Columns, checkRows } from "./columns.ts";
import type { Queryable } from "./database.ts";

/**
 * Runs a statement and returns its rows. Throws a TypeError unless each row has exactly the declared columns, of the
 * declared types. Values are bound in the order in which the statement has them; undefined is refused.
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
