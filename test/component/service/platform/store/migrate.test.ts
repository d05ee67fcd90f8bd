import { afterEach, beforeEach, expect, it } from "vitest";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { type Migration, migrate } from "../../../../../src/service/platform/store/migrate.ts";
import { DATABASE_TIMEOUT_MS, openEmbeddedDatabase } from "../../../../support/database/database.ts";
import { silentLog } from "../../../../support/silent-log.ts";

let database: Database;
beforeEach(async () => {
  // Its own database: these tests must not depend on the real migrations.
  database = await openEmbeddedDatabase();
  await database.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public");
}, DATABASE_TIMEOUT_MS);
afterEach(() => database.close());

const migration = (name: string, script: string): Migration => ({ name, script, checksum: `${name}-sum` });
const first = migration("1_first", "CREATE TABLE a (id int); CREATE TABLE b (id int);");
const functions = migration(
  "2_functions",
  "CREATE FUNCTION one() RETURNS int LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$;",
);
const broken = migration("3_broken", "CREATE TABLE c (id int); CREATE TABLE a (id int);");

it("applies missing migrations in order, and none twice", async () => {
  expect(await migrate(database, silentLog, { migrations: [first] })).toEqual(["1_first"]);
  expect(await migrate(database, silentLog, { migrations: [first, functions] })).toEqual(["2_functions"]);
  expect(await migrate(database, silentLog, { migrations: [first, functions] })).toEqual([]);
  expect(await database.query("SELECT one() AS one", [])).toEqual([{ one: 1 }]);
});

it("rolls back a migration that fails, records it, and applies no other until it is resolved", async () => {
  await expect(migrate(database, silentLog, { migrations: [first, broken] })).rejects.toThrow(
    "migration 3_broken failed",
  );
  expect(await database.query("SELECT to_regclass('c') AS c", [])).toEqual([{ c: null }]);
  await expect(migrate(database, silentLog, { migrations: [first, functions] })).rejects.toThrow(
    "3_broken failed earlier",
  );
  const [row] = await database.query<{ logs: string }>(
    "SELECT logs FROM _prisma_migrations WHERE finished_at IS NULL",
    [],
  );
  expect(row?.logs).toContain("already exists");
  await database.query("UPDATE _prisma_migrations SET rolled_back_at = now() WHERE finished_at IS NULL", []);
  expect(await migrate(database, silentLog, { migrations: [first, functions] })).toEqual(["2_functions"]);
});

it("warns if a migration was edited after it was applied", async () => {
  const warnings: object[] = [];
  await migrate(database, silentLog, { migrations: [first] });
  const log = { ...silentLog, warn: (fields: object) => warnings.push(fields) };
  expect(await migrate(database, log, { migrations: [{ ...first, checksum: "other" }] })).toEqual([]);
  expect(warnings).toEqual([{ migration: "1_first" }]);
});
