import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { isUniqueViolation } from "../../../../../src/service/platform/store/sql-errors.ts";
import {
  DATABASE_TIMEOUT_MS,
  openRaceDatabase,
  openTestDatabase,
} from "../../../../support/database/database.ts";

const postgres = await openRaceDatabase();

describe.each([
  { name: "the embedded database", open: openTestDatabase, missing: false },
  { name: "PostgreSQL", open: async () => postgres!, missing: postgres === undefined },
])("$name", ({ open, missing }) => {
  let database: Database;
  beforeAll(async () => {
    if (!missing) database = await open();
  }, DATABASE_TIMEOUT_MS);
  afterAll(() => database?.close(), DATABASE_TIMEOUT_MS);
  const add = (id: string, balance = 0n) =>
    database.query(
      "INSERT INTO project (id, name, network, balance_micro_usd) VALUES ($1, 'p', 'localnet', $2)",
      [id, balance],
    );
  const exists = async (id: string) =>
    (await database.query("SELECT 1 FROM project WHERE id = $1", [id])).length === 1;

  describe.skipIf(missing)("", () => {
    it("returns bigint as bigint and bytea as bytes, through SQL and through Prisma", async () => {
      const id = newId();
      await add(id, 2n ** 60n + 1n);
      const [row] = await database.query<Record<string, unknown>>(
        "SELECT balance_micro_usd AS balance, $2::bytea AS bytes, '\\x'::bytea AS nothing FROM project WHERE id = $1",
        [id, Uint8Array.of(0, 255)],
      );
      expect(row).toStrictEqual({
        balance: 2n ** 60n + 1n,
        bytes: Uint8Array.of(0, 255),
        nothing: new Uint8Array(),
      });
      const project = await database.prisma.project.findUniqueOrThrow({ where: { id } });
      expect(project.balanceMicroUsd).toBe(2n ** 60n + 1n);
    });

    it("commits a transaction as a whole, or rolls it back", async () => {
      const [kept, lost] = [newId(), newId()];
      await database.transaction(async (db) => {
        await db.query("INSERT INTO project (id, name, network) VALUES ($1, 'p', 'localnet')", [kept]);
      });
      const failing = database.transaction(async (db) => {
        await db.query("INSERT INTO project (id, name, network) VALUES ($1, 'p', 'localnet')", [lost]);
        throw new Error("changed my mind");
      });
      await expect(failing).rejects.toThrow("changed my mind");
      expect([await exists(kept), await exists(lost)]).toEqual([true, false]);
    });

    it("answers every statement with its own result, even after failed statements", async () => {
      const failing: (() => Promise<unknown>)[] = [
        () => database.query("SELEKT 1", []),
        () => database.query("SELECT $1::int", ["no number"]),
        () => database.query("SELECT 1 / 0", []),
        () => database.query("SELECT 1; SELECT 1 / 0"),
        () => database.prisma.project.create({ data: { id: newId(), name: "p", network: "marsnet" } }),
        () => database.transaction((db) => db.query("SELECT 1 / (1 - $1::int)", [1])),
        () => database.transaction((db) => db.query("SELECT nothing FROM nowhere", [])),
      ];
      const calls = Array.from({ length: 70 }, (_, i) =>
        i % 2 === 0
          ? failing[(i / 2) % failing.length]!().then(
              () => "passed",
              () => "failed",
            )
          : database.query<{ i: number }>("SELECT $1::int AS i", [i]).then(([row]) => row?.i),
      );
      expect(await Promise.all(calls)).toEqual(
        Array.from({ length: 70 }, (_, i) => (i % 2 === 0 ? "failed" : i)),
      );
    });

    it("names the unique index that was violated", async () => {
      const id = newId();
      await add(id);
      const error = await add(id).catch((e: unknown) => e);
      expect(isUniqueViolation(error, "project_pkey")).toBe(true);
      expect(isUniqueViolation(error, "api_key_hash_key")).toBe(false);
    });

    it("refuses a hold above the balance, and a balance below the hold", async () => {
      const id = newId();
      await add(id, 5n);
      const set = (column: string, value: bigint) =>
        database.query(`UPDATE project SET ${column} = $2 WHERE id = $1`, [id, value]);
      await set("held_micro_usd", 5n);
      await expect(set("held_micro_usd", 6n)).rejects.toThrow("project_held_within_balance");
      await expect(set("held_micro_usd", -1n)).rejects.toThrow("project_held_within_balance");
      await expect(set("balance_micro_usd", 4n)).rejects.toThrow("project_held_within_balance");
    });

    it.each(["ledger_entry", "audit_event"])("refuses to change or delete rows of %s", async (table) => {
      await expect(database.query(`DELETE FROM ${table}`, [])).rejects.toThrow("append-only");
      await expect(database.query(`TRUNCATE ${table} CASCADE`, [])).rejects.toThrow("append-only");
      const column = table === "ledger_entry" ? "description" : "action";
      await expect(database.query(`UPDATE ${table} SET ${column} = 'x'`, [])).rejects.toThrow("append-only");
    });
  });
});

describe("ids", () => {
  it("sort in the order of their creation", () => {
    const ids = Array.from({ length: 100 }, newId);
    expect(ids.toSorted()).toEqual(ids);
  });
});
