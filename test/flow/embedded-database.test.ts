/** The embedded database on its thread behaves like a PostgreSQL server, and keeps committed rows. */
import { afterAll, expect, it } from "vitest";
import type { Database } from "../../src/service/platform/store/database.ts";
import { openPglite } from "../../src/service/platform/store/open-pglite.ts";
import { migratedFolder } from "../support/database/migrated-folder.ts";

const { folder, remove } = await migratedFolder();
const ID = "01a1fc74-6ac7-7131-add9-f73956106411";
let database: Database | undefined;

afterAll(async () => {
  await database?.close();
  remove();
});

it("the embedded database reports errors with their codes, continues after them, and keeps its rows across a restart", {
  timeout: 600_000,
}, async () => {
  database = await openPglite(folder);
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
