/** Migrates one database per run, of which the suites' databases are copies, and drops it when the run ends. */
import type { TestProject } from "vitest/node";
import { migrate } from "../../../src/service/platform/store/migrate.ts";
import { environment } from "../environment.ts";
import { silentLog } from "../silent-log.ts";
import { isServerUsable, testDatabase } from "./postgres.ts";
import { openTestPool } from "./test-pool.ts";

/** Makes the database. Returns the function that drops it. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const made = (await isServerUsable(environment.databaseUrl)) ? await testDatabase() : undefined;
  project.provide("migratedTemplate", made === undefined ? "" : new URL(made.url).pathname.slice(1));
  if (made === undefined) return async () => {};
  // A database that has a connection cannot be copied.
  const database = await openTestPool(made.url);
  await migrate(database, silentLog);
  await database.close();
  return () => made.drop();
}
