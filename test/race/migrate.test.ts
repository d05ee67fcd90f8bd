/** Processes that start at the same time, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { newId } from "../../src/service/platform/store/database.ts";
import { migrate, readMigrations } from "../../src/service/platform/store/migrate.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { silentLog } from "../support/silent-log.ts";

const test = await testDatabase();
const older = await testDatabase();
afterAll(() => Promise.all([test?.drop(), older?.drop()]));

describe.skipIf(test === undefined)("four processes that migrate at once", () => {
  it("apply each migration once, and all of them continue", async () => {
    const names = (await readMigrations()).map(({ name }) => name);
    const databases = await Promise.all(Array.from({ length: 4 }, () => openTestPool(test!.url)));
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

describe.skipIf(older === undefined)("a database of an older version", () => {
  it("keeps the idempotency keys of its last day", async () => {
    const database = await openTestPool(older!.url);
    try {
      const migrations = await readMigrations();
      const at = migrations.findIndex(({ name }) => name.endsWith("_idempotency_keys"));
      await migrate(database, silentLog, { migrations: migrations.slice(0, at) });
      // The keys do not depend on what the requests contain.
      await database.query(
        `ALTER TABLE sign_request DROP CONSTRAINT sign_request_project_id_fkey,
           DROP CONSTRAINT sign_request_dwallet_id_fkey, DROP CONSTRAINT sign_request_presign_id_fkey`,
      );
      const projectId = newId();
      for (const [key, hours] of Object.entries({ fresh: 0, old: 25, none: 0 })) {
        await database.query(
          `INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm,
             hash_scheme, message, price_micro_usd, status, idempotency_key, request_hash, expires_at, created_at)
           VALUES ($1, $2, $1, $1, 'localnet', 0, 0, 0, '\\x01', 0, 'prepared', nullif($3, 'none'), '\\x02', now(),
             now() - make_interval(hours => $4))`,
          [newId(), projectId, key, hours],
        );
      }
      await migrate(database, silentLog);
      const kept = await database.query(
        `SELECT scope, network, key, method, fingerprint, subject_id IS NOT NULL AS "hasSubject",
           expires_at - created_at = interval '24 hours' AS "isForADay" FROM idempotency_key`,
      );
      expect(kept).toEqual([
        {
          scope: projectId,
          network: "localnet",
          key: "fresh",
          method: "tss.v1.Signing/ReserveSign",
          fingerprint: Uint8Array.of(2),
          hasSubject: true,
          isForADay: true,
        },
      ]);
    } finally {
      await database.close();
    }
  });
});
