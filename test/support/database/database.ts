import { createHash, randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { PGlite } from "@electric-sql/pglite";
import { inject } from "vitest";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { migrate, readMigrations } from "../../../src/service/platform/store/migrate.ts";
import { databaseOnPglite } from "../../../src/service/platform/store/open-pglite.ts";
import { environment } from "../environment.ts";
import { ROOT } from "../repository/source-files.ts";
import { silentLog } from "../silent-log.ts";
import { migratedDatabase } from "./postgres.ts";
import { takePglite } from "./reused-pglite.ts";
import { type MoreConnections, openTestPool } from "./test-pool.ts";

/** The first database of a schema version runs initdb. Later ones load its snapshot. */
export const DATABASE_TIMEOUT_MS = 120_000;

/**
 * Opens a migrated database: on the PostgreSQL server of the tests by day, and embedded at night or if no server answers.
 * Close it at the end of the suite.
 */
export async function openTestDatabase(): Promise<Database> {
  const isEmbedded = environment.isReference || inject("migratedTemplate") === "";
  const one = { count: 1, because: "the statements keep their order, as in an embedded database" };
  return (isEmbedded ? undefined : await openRaceDatabase(one)) ?? openEmbeddedDatabase();
}

/** Opens a migrated database in this process. Close it at the end of the suite. */
export async function openEmbeddedDatabase(): Promise<Database> {
  return databaseOnPglite(await takePglite(async () => new Blob([readFileSync(await snapshotFile())])));
}

/**
 * Opens a migrated database on a real PostgreSQL, with two connections by default. `close` also drops it. Returns
 * undefined if no server answers.
 */
export async function openRaceDatabase(connections?: MoreConnections): Promise<Database | undefined> {
  const test = await migratedDatabase();
  if (test === undefined) return undefined;
  const database = await openTestPool(test.url, connections && { connections });
  return {
    ...database,
    async close() {
      await database.close();
      await test.drop();
    },
  };
}

/** Returns the data folder of a migrated database as a tar file, named after its migrations. */
export async function snapshotFile(): Promise<string> {
  const migrations = await readMigrations();
  const engine = readFileSync(path.join(ROOT, "node_modules/@electric-sql/pglite/package.json"), "utf8");
  const name = createHash("sha256")
    .update([...migrations.map((m) => m.checksum), engine].join())
    .digest("hex");
  const folder = path.join(ROOT, "node_modules/.cache/test-database");
  const file = path.join(folder, `${name}.tar`);
  if (existsSync(file)) return file;
  const pglite = await PGlite.create();
  const database = databaseOnPglite(pglite);
  await migrate(database, silentLog, { migrations });
  const dump = await pglite.dumpDataDir("none");
  await database.close();
  mkdirSync(folder, { recursive: true });
  // Another worker may already use the same snapshot.
  const older = readdirSync(folder).filter((other) => other.endsWith(".tar") && other !== `${name}.tar`);
  for (const other of older) rmSync(path.join(folder, other), { force: true });
  // Suites that start together may all get here, so the file is moved into place atomically.
  const draft = path.join(folder, `${randomUUID()}.draft`);
  writeFileSync(draft, new Uint8Array(await dump.arrayBuffer()));
  renameSync(draft, file);
  return file;
}
