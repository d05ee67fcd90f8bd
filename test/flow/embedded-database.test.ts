/** The embedded database on its thread behaves like a PostgreSQL server, and keeps committed rows. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, expect, it } from "vitest";
import type { Database } from "../../src/service/platform/store/database.ts";
import { migrate } from "../../src/service/platform/store/migrate.ts";
import { openPglite } from "../../src/service/platform/store/open-pglite.ts";
import { silentLog } from "../support/silent-log.ts";

const folder = mkdtempSync(path.join(tmpdir(), "embedded-"));
const ID = "01a1fc74-6ac7-7131-add9-f73956106411";
let database: Database | undefined;

afterAll(async () => {
  await database?.close();
  rmSync(folder, { recursive: true, force: true });
});

it("the embedded database reports errors with their codes, continues after them, and keeps its rows across a restart", {
  timeout: 600_000,
}, async () => {
  database = await openPglite(folder);
  await migrate(database, silentLog);
  const insert = "INSERT INTO project (id, name, network) VALUES ($1, 'acme', 'localnet')";
  await database.query(insert, [ID]);
  await expect(database.query(insert, [ID])).rejects.toMatchObject({
    code: "23505",
    constraint: "project_pkey",
  });
  await expect(
    database.prisma.project.create({ data: { id: ID, name: "acme", network: "localnet" } }),
  ).rejects.toMatchObject({
    code: "P2002",
  });
  await expect(
    database.transaction(async (db) => {
      await db.query("UPDATE project SET name = 'other'");
      throw new Error("undone");
    }),
  ).rejects.toThrow("undone");
  await database.close();
  await expect(database.query("SELECT 1")).rejects.toThrow();

  database = await openPglite(folder);
  expect(await database.query("SELECT id, name, balance_micro_usd AS balance FROM project")).toEqual([
    { id: ID, name: "acme", balance: 0n },
  ]);
  expect(await database.prisma.project.count()).toBe(1);
});
