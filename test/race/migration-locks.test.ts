/** Migrations next to a backup, which reads every table in one long transaction, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import type { Database } from "../../src/service/platform/store/database.ts";
import { type MigrateOptions, type Migration, migrate } from "../../src/service/platform/store/migrate.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { openTestClient, openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";
import { silentLog } from "../support/silent-log.ts";

const test = await testDatabase();
const BESIDE = {
  count: 6,
  because: "two migrations with two connections each, a call and a look at the locks run at the same time",
};
let database: Database;
if (test !== undefined) database = await openTestPool(test.url, { connections: BESIDE });
afterAll(async () => {
  await database?.close();
  await test?.drop();
});

const ADD_COLUMN: Migration = { name: "2_add", script: "ALTER TABLE hot ADD COLUMN more int", checksum: "2" };

describe.skipIf(test === undefined)("a migration that wants a table which a backup reads", () => {
  beforeEach(async () => {
    await database.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public; CREATE TABLE hot (id int)");
    await migrate(database, silentLog, { migrations: [] });
  });

  /** Reads as pg_dump does until it is stopped. */
  async function openBackup() {
    const backup = await openTestClient({ connectionString: test!.url, application_name: "pg_dump" });
    await backup.query(
      "BEGIN ISOLATION LEVEL REPEATABLE READ, READ ONLY; LOCK TABLE hot IN ACCESS SHARE MODE",
    );
    return backup;
  }
  const run = (options: MigrateOptions) =>
    migrate(database, silentLog, { migrations: [ADD_COLUMN], lockTimeoutMs: 100, ...options });
  const hasColumn = async () =>
    (
      await database.query(
        "SELECT 1 FROM pg_attribute WHERE attrelid = 'hot'::regclass AND attname = 'more'",
        [],
      )
    ).length === 1;
  const call = () => database.query("SELECT count(*) FROM hot", []);
  const WAITING = `FROM pg_locks WHERE relation = 'hot'::regclass AND NOT granted AND mode = 'AccessExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
  const untilItWaits = () =>
    pollUntil(async () => (await database.query(`SELECT 1 ${WAITING}`, [])).length, { intervalMs: 1 });

  it("delays no call during the backup, and is applied after it", async () => {
    const backup = await openBackup();
    let pauseCount = 0;
    const migrating = run({
      async pause() {
        await call();
        if (++pauseCount === 2) await backup.end();
      },
    });
    await untilItWaits();
    // The call waits for the migration, which waits for the backup.
    await call();
    expect(await migrating).toEqual(["2_add"]);
    expect(pauseCount).toBe(2);
    expect(await hasColumn()).toBe(true);
  });

  it("gives up at its time limit, names the holder of the lock, and leaves nothing behind", async () => {
    const backup = await openBackup();
    let pauseCount = 0;
    const pause = async () => pauseCount++;
    await expect(run({ pause, pauseMs: 100, lockWaitMs: 1_000 })).rejects.toThrow(
      /^migration 2_add got no lock within 1 s and was not applied; .* \(pg_dump\), open for \d+ s/,
    );
    expect(pauseCount).toBe(5);
    expect(await database.query("SELECT 1 FROM _prisma_migrations", [])).toEqual([]);
    await backup.end();
    expect(await run({})).toEqual(["2_add"]);
  });

  it("is restarted by the next process when it is killed while it waits", async () => {
    const backup = await openBackup();
    const migrating = run({ lockTimeoutMs: 60_000 });
    await untilItWaits();
    await database.query(`SELECT pg_terminate_backend(pid) ${WAITING}`, []);
    await expect(migrating).rejects.toThrow("terminating connection");
    await backup.end();
    expect(await run({})).toEqual(["2_add"]);
  });

  it("may run longer than the statement of a call", async () => {
    const hasty = await openTestPool(test!.url, { statementTimeoutMs: 100 });
    const slow = { name: "2_slow", script: "SELECT pg_sleep(0.3)", checksum: "slow" };
    try {
      await expect(hasty.query(slow.script, [])).rejects.toThrow("statement timeout");
      expect(await migrate(hasty, silentLog, { migrations: [slow] })).toEqual(["2_slow"]);
    } finally {
      await hasty.close();
    }
  });

  it("does not wait forever for another process that migrates", async () => {
    const backup = await openBackup();
    const stuck = run({ lockTimeoutMs: 60_000 });
    await untilItWaits();
    await expect(run({ lockWaitMs: 200 })).rejects.toThrow(
      "another process has been migrating the database for 0.2 s",
    );
    await backup.end();
    expect(await stuck).toEqual(["2_add"]);
  });
});
