import type { Database } from "../../../src/service/platform/store/database.ts";

/** The names of the changed columns, by table and by the row's primary key. A new row has the name `new`. */
export type ChangedRows = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

/**
 * Runs an action and returns the rows of some tables that it has changed. A statement whose condition holds for more
 * rows than it should shows here, if the tables have such rows.
 */
export async function changedRows(
  database: Pick<Database, "query">,
  tables: readonly string[],
  action: () => Promise<unknown>,
): Promise<ChangedRows> {
  const before = await Promise.all(tables.map((table) => readTable(database, table)));
  await action();
  const changed: Record<string, Record<string, string[]>> = {};
  for (const [index, table] of tables.entries()) {
    for (const [id, row] of await readTable(database, table)) {
      const old = before[index]?.get(id);
      const columns =
        old === undefined
          ? ["new"]
          : Object.keys(row).filter((name) => JSON.stringify(row[name]) !== JSON.stringify(old[name]));
      if (columns.length > 0) changed[table] = { ...changed[table], [id]: columns.sort() };
    }
  }
  return changed;
}

/** Returns the rows of a table by the values of their primary key, with spaces between them. */
async function readTable(database: Pick<Database, "query">, table: string) {
  const rows = await database.query<{ key: string; row: string }>(
    `SELECT to_jsonb(t)::text AS row,
       (SELECT string_agg(to_jsonb(t) ->> a.attname, ' ' ORDER BY array_position(i.indkey::int2[], a.attnum))
        FROM pg_index i JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = ANY(i.indkey)
        WHERE i.indrelid = t.tableoid AND i.indisprimary) AS key
     FROM "${table}" t`,
  );
  return new Map(rows.map(({ key, row }) => [key, JSON.parse(row) as Record<string, unknown>]));
}
