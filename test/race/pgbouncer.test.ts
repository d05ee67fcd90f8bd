/** The database behind Debian's pgbouncer, which gives each transaction another session of a real PostgreSQL. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readConfig } from "../../src/service/config/config.ts";
import { databaseChecks } from "../../src/service/operator/health/checks/database-checks.ts";
import type { HealthSubject } from "../../src/service/operator/health/checks/health-check.ts";
import { openDoctorDatabase } from "../../src/service/operator/health/doctor/doctor.ts";
import { LOCK_KEYS, migrate, readMigrations } from "../../src/service/platform/store/migrate.ts";
import { lookAtSession } from "../../src/service/platform/store/open-postgres.ts";
import { startPgbouncer } from "../support/database/pgbouncer.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { openTestClient, openTestPool } from "../support/database/test-pool.ts";
import { silentLog } from "../support/silent-log.ts";

const test = await testDatabase();
/** Fewer than the migrating processes need if each one that waits holds a connection. */
const SERVER_CONNECTIONS = 3;
const pgbouncer = test && (await startPgbouncer(test.url, SERVER_CONNECTIONS));
afterAll(async () => {
  await pgbouncer?.stop();
  await test?.drop();
});

describe.skipIf(pgbouncer === undefined)("through a pooler in transaction mode", () => {
  beforeAll(async () => {
    const names = (await readMigrations()).map(({ name }) => name);
    const databases = await Promise.all(Array.from({ length: 4 }, () => open()));
    try {
      const applied = await Promise.all(databases.map((database) => migrate(database, silentLog)));
      expect(applied.flat()).toEqual(names);
    } finally {
      await Promise.all(databases.map((database) => database.close()));
    }
  }, 240_000);

  const open = (statementTimeoutMs = 15_000) => openTestPool(pgbouncer!.url, { statementTimeoutMs });
  const sessions = async () => {
    const clients = await Promise.all(
      Array.from({ length: SERVER_CONNECTIONS }, () => openTestClient({ connectionString: pgbouncer!.url })),
    );
    try {
      // Open transactions at the same time, so that each is on another session of the server.
      for (const client of clients) await client.query("BEGIN");
      return await Promise.all(
        clients.map(async (client) => {
          const { rows } = await client.query<{ pid: number; limit: string; prepared: string }>(
            `SELECT pg_backend_pid() AS pid, current_setting('statement_timeout') AS limit,
               (SELECT count(*) FROM pg_prepared_statements) AS prepared`,
          );
          return rows[0]!;
        }),
      );
    } finally {
      for (const client of clients) await client.end();
    }
  };

  it("four processes that migrate at once apply each migration once, and leave no lock and no failure", async () => {
    const direct = await openTestClient({ connectionString: test!.url });
    try {
      const rows = await direct.query<{ name: string; done: boolean }>(
        "SELECT migration_name AS name, finished_at IS NOT NULL AS done FROM _prisma_migrations ORDER BY name",
      );
      const names = (await readMigrations()).map(({ name }) => name);
      expect(rows.rows).toEqual(names.map((name) => ({ name, done: true })));
      // The server shows the locks of all its databases, in which other tests migrate.
      const locks = await direct.query(
        `SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = $1
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
        [LOCK_KEYS.migration],
      );
      expect(locks.rowCount).toBe(0);
    } finally {
      await direct.end();
    }
  });

  it("the pooler is found at the start, and a direct connection is not mistaken for one", async () => {
    for (const [url, isPooled] of [
      [pgbouncer!.url, true],
      [test!.url, false],
    ] as const) {
      const client = await openTestClient({ connectionString: url });
      expect((await lookAtSession(client)).isPooled).toBe(isPooled);
      await client.end();
      const database = await openTestPool(url);
      expect(database.isPooled).toBe(isPooled);
      await database.close();
    }
  });

  it("the doctor names the pooler, and warns if the configuration denies it", async () => {
    const look = async (DATABASE_URL: string, DATABASE_POOLER: string) => {
      const { config } = readConfig({ DATABASE_URL, DATABASE_POOLER });
      const opened = await openDoctorDatabase(config);
      const [check] = databaseChecks({ config, database: async () => opened } as unknown as HealthSubject);
      try {
        return await check!.look();
      } finally {
        await opened.close();
      }
    };
    expect(await look(pgbouncer!.url, "auto")).toMatchObject({
      status: "ok",
      found: expect.stringContaining(", through a pooler, "),
    });
    expect(await look(pgbouncer!.url, "none")).toMatchObject({ status: "warn" });
    expect((await look(test!.url, "none")).found).not.toContain("pooler");
  });

  it("statements of many connections work at once, by SQL and by Prisma, and leave nothing in a session", async () => {
    const database = await openTestPool(pgbouncer!.url, {
      statementTimeoutMs: 12_345,
      connections: {
        count: 12,
        because: "more connections than sessions change the session at each statement",
      },
    });
    try {
      const calls = Array.from({ length: 120 }, async (_, index) => {
        if (index % 3 === 0) return database.prisma.project.count();
        if (index % 3 === 1)
          return (await database.query<{ index: number }>("SELECT $1::int AS index", [index]))[0]?.index;
        return database.transaction(async (db) => {
          await db.query("SELECT $1::int AS before", [index]);
          return (await db.query<{ index: number }>("SELECT $1::int AS index", [index]))[0]?.index;
        });
      });
      const expected = calls.map((_, index) => (index % 3 === 0 ? 0 : index));
      expect(await Promise.all(calls)).toEqual(expected);
    } finally {
      await database.close();
    }
    const found = await sessions();
    expect(new Set(found.map(({ pid }) => pid)).size).toBe(SERVER_CONNECTIONS);
    expect(found.map(({ limit, prepared }) => [limit, prepared])).toEqual(
      Array(SERVER_CONNECTIONS).fill(["0", "0"]),
    );
  });

  it("a statement still has its time limit, alone, by Prisma and in a transaction, and the connection serves on", async () => {
    const database = await open(100);
    try {
      const slow = [
        () => database.query("SELECT pg_sleep(20)", []),
        () => database.prisma.$queryRawUnsafe("SELECT pg_sleep(20)"),
        () => database.transaction((db) => db.query("SELECT pg_sleep(20)", [])),
      ];
      for (const call of slow) await expect(call()).rejects.toThrow("statement timeout");
      expect(await database.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
    } finally {
      await database.close();
    }
  });
});
