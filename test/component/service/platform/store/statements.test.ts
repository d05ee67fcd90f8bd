import sql from "sql-template-tag";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  bigint,
  boolean,
  bytea,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../../../../../src/service/platform/store/columns.ts";
import { type Database, execute, readRows } from "../../../../../src/service/platform/store/database.ts";
import { openTestDatabase } from "../../../../support/database/database.ts";

let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
});
afterAll(() => database?.close());

describe("a statement", () => {
  it("binds the values of nested fragments in the order of its text", async () => {
    const inner = sql`SELECT ${"b"}::text AS second`;
    const statement = sql`SELECT ${"a"}::text AS first, second, ${3}::integer AS third FROM (${inner}) AS nested`;
    expect(statement.text).toContain("$1");
    expect(await readRows(database, statement, { first: text, second: text, third: number })).toEqual([
      { first: "a", second: "b", third: 3 },
    ]);
  });

  it("binds a value as a value, whatever it contains", async () => {
    const name = "'; DROP TABLE project; --";
    expect(await readRows(database, sql`SELECT ${name}::text AS name`, { name: text })).toEqual([{ name }]);
  });

  it("refuses an undefined value, which PostgreSQL would read as NULL", async () => {
    await expect(execute(database, sql`SELECT ${undefined}::text`)).rejects.toThrow("undefined");
  });

  it("counts the rows that it returns", async () => {
    expect(await execute(database, sql`SELECT * FROM generate_series(1, ${3}::integer)`)).toBe(3);
  });
});

describe("a row", () => {
  const read = (column: Parameters<typeof nullable>[0], expression: string) =>
    readRows(database, sql([`SELECT ${expression} AS value`] as unknown as TemplateStringsArray), {
      value: column,
    });

  it.each([
    ["text", text, "'a'::text"],
    ["uuid", text, "gen_random_uuid()"],
    ["integer", number, "1::integer"],
    ["bigint", bigint, "1::bigint"],
    ["boolean", boolean, "true"],
    ["bytea", bytea, "'\\x01'::bytea"],
    ["timestamptz", time, "now()"],
    ["array", listOf(text), "ARRAY['a']"],
    ["word", oneOf("queued", "sent"), "'sent'::text"],
    ["NULL", nullable(text), "NULL::text"],
  ] as const)("may have a column of type %s", async (_name, column, expression) => {
    expect(await read(column, expression)).toHaveLength(1);
  });

  it.each([
    ["a bigint declared as number", number, "1::bigint", "number"],
    ["a NULL that is not declared", text, "NULL::text", "text"],
    ["a word that is not listed", oneOf("queued"), "'sent'::text", "queued"],
    ["an array with an element of another type", listOf(text), "ARRAY[1]", "list of text"],
  ] as const)(
    "is refused for %s, without its value in the error",
    async (_name, column, expression, type) => {
      await expect(read(column, expression)).rejects.toThrow(`column value of the result is not ${type}`);
    },
  );

  it("is refused for a missing column, and for an undeclared one", async () => {
    const statement = sql`SELECT 1::integer AS count`;
    await expect(readRows(database, statement, { counts: number })).rejects.toThrow("no column counts");
    await expect(readRows(database, sql`SELECT 1 AS a, 2 AS b`, { a: number })).rejects.toThrow(
      "not declared: b",
    );
  });
});
