/** Processes that start together, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { migrate } from "../../src/store/migrate.ts";
import { readMigrations } from "../../src/store/migrations.ts";
import { openPostgres } from "../../src/store/open-postgres.ts";
import { silentLog } from "../support/database.ts";
import { testDatabase } from "../support/postgres.ts";

const test = await testDatabase();
afterAll(() => test?.drop());

describe.skipIf(test === undefined)("four processes that migrate at once", () => {
  it("apply each migration once, and all find the database ready", async () => {
    const names = (await readMigrations()).map(({ name }) => name);
    const databases = await Promise.all(Array.from({ length: 4 }, () => openPostgres(test!.url, silentLog)));
    try {
      const applied = await Promise.all(databases.map((database) => migrate(database, silentLog)));
      expect(applied.flat()).toEqual(names);
      const recorded = await databases[0]!.query<{ migration_name: string; finished: boolean }>(
        "SELECT migration_name, finished_at IS NOT NULL AS finished FROM _prisma_migrations ORDER BY migration_name",
        [],
      );
      expect(recorded).toEqual(names.map((migration_name) => ({ migration_name, finished: true })));
      for (const database of databases) expect(await database.prisma.project.count()).toBe(0);
    } finally {
      await Promise.all(databases.map((database) => database.close()));
    }
  });
});
