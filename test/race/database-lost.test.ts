/** Calls while a real PostgreSQL ends connections, refuses them or cannot be reached. */
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { Code } from "@connectrpc/connect";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import {
  createErrorMapping,
  type FailureRecord,
  reasonOf,
} from "../../src/service/platform/errors/error-mapping.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { createPoolDatabase } from "../../src/service/platform/store/pool-database.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { openTestClient, openTestPool, type TestPoolOptions } from "../support/database/test-pool.ts";
import { environment } from "../support/environment.ts";
import { pollUntil } from "../support/poll-until.ts";

const test = await testDatabase();
const admin = test && (await openTestClient({ connectionString: environment.databaseUrl }));
afterAll(async () => {
  await admin?.end();
  await test?.drop();
});

const CALL = { requestId: "r-1", method: "tss.v1.Signing/ReserveSign" };

/** The caller's error for a failure, and the level of the log record. */
function told(failure: unknown) {
  const records: FailureRecord[] = [];
  const error = createErrorMapping((record) => records.push(record)).toConnectError(failure, CALL);
  return { reason: reasonOf(error), code: error.code, message: error.rawMessage, level: records[0]?.level };
}
const UNAVAILABLE = {
  reason: "DATABASE_UNAVAILABLE",
  code: Code.Unavailable,
  message: "the database does not answer",
  level: "warn",
};

const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => expect.unreachable("it does not fail"),
    (error: unknown) => error,
  );

describe.skipIf(test === undefined)("a caller may repeat a call that failed because the database", () => {
  const name = new URL(test?.url ?? "postgresql://x/x").pathname.slice(1);
  const endConnections = () =>
    admin!.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1", [name]);
  const asleep = async () => {
    const sleeping = "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep'";
    await pollUntil(async () => (await admin!.query(sleeping, [name])).rowCount);
  };
  async function opened<T>(work: (database: Database) => Promise<T>, options?: TestPoolOptions): Promise<T> {
    const database = await openTestPool(test!.url, options);
    try {
      return await work(database);
    } finally {
      await database.close();
    }
  }

  it.each([
    ["a statement", (database: Database) => database.query("SELECT pg_sleep(60)", [])],
    ["a statement of Prisma's", ({ prisma }: Database) => prisma.$queryRaw`SELECT pg_sleep(60)::text`],
  ])("ended the connection of %s", async (_what, sleep) => {
    await opened(async (database) => {
      const failing = failureOf(sleep(database));
      await asleep();
      await endConnections();
      expect(told(await failing)).toEqual(UNAVAILABLE);
    });
  });

  it("ended the connection of a transaction between two statements", async () => {
    await opened(async (database) => {
      const work = database.transaction(async (db) => {
        await endConnections();
        await db.query("SELECT 1", []);
      });
      expect(told(await failureOf(work))).toEqual(UNAVAILABLE);
    });
  });

  it("cannot be reached", async () => {
    const pool = new pg.Pool({ connectionString: "postgresql://nobody@127.0.0.1:1/none" });
    const database = createPoolDatabase({ kind: "postgres", pool });
    expect(told(await failureOf(database.query("SELECT 1", [])))).toEqual(UNAVAILABLE);
    expect(told(await failureOf(database.prisma.apiKey.findFirst()))).toEqual(UNAVAILABLE);
    await database.close();
  });

  it.each(["53300", "53200", "57P01", "57P02", "57P03", "57P05", "57014", "55P03", "25P03", "08006"])(
    "reports %s for a statement of ours or of Prisma's",
    async (state) => {
      await opened(async (database) => {
        const raise = `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`;
        expect(told(await failureOf(database.query(raise)))).toEqual(UNAVAILABLE);
        expect(told(await failureOf(database.prisma.$executeRawUnsafe(raise)))).toEqual(UNAVAILABLE);
      });
    },
  );

  it("has no connection left for the role", async () => {
    const role = `${name}_full`;
    await admin!.query(`CREATE ROLE ${role} LOGIN CONNECTION LIMIT 0`);
    const url = new URL(test!.url);
    url.username = role;
    const pool = new pg.Pool({ connectionString: url.href });
    const database = createPoolDatabase({ kind: "postgres", pool });
    try {
      expect(told(await failureOf(database.query("SELECT 1", [])))).toEqual(UNAVAILABLE);
      expect(told(await failureOf(database.transaction((db) => db.query("SELECT 1", []))))).toEqual(
        UNAVAILABLE,
      );
      expect(told(await failureOf(database.prisma.apiKey.findFirst()))).toEqual(UNAVAILABLE);
      expect(told(await failureOf(database.prisma.$queryRaw`SELECT 1`))).toEqual(UNAVAILABLE);
    } finally {
      await database.close();
      await admin!.query(`DROP ROLE ${role}`);
    }
  });

  it("is slow, so that the server ends a statement of ours or of Prisma's", async () => {
    await opened(
      async (database) => {
        expect(told(await failureOf(database.query("SELECT pg_sleep(60)", [])))).toEqual(UNAVAILABLE);
        const ended = failureOf(database.prisma.$queryRaw`SELECT pg_sleep(60)::text`);
        expect(told(await ended)).toEqual(UNAVAILABLE);
        const inTransaction = database.transaction((db) => db.query("SELECT pg_sleep(60)", []));
        expect(told(await failureOf(inTransaction))).toEqual(UNAVAILABLE);
      },
      { statementTimeoutMs: 100 },
    );
  });

  it("has all its connections in use: after a wait, or at once if too many calls wait", async () => {
    await opened(
      async (database) => {
        // Prisma's first call prepares its later ones, and takes longer than any call waits here.
        await failureOf(database.prisma.apiKey.findFirst());
        const held = new AbortController();
        const busy = database.transaction(() => once(held.signal, "abort"));
        const waiting = [
          () => database.query("SELECT 1", []),
          () => database.prisma.apiKey.findFirst(),
          () => database.transaction((db) => db.query("SELECT 1", [])),
        ].map((call) => failureOf(call()));
        try {
          while (database.connections().waitingCount < 3) await setImmediate();
          const refused = { ...UNAVAILABLE, message: "too many calls are waiting for the database" };
          expect(told(await failureOf(database.query("SELECT 1", [])))).toEqual(refused);
          expect(told(await failureOf(database.prisma.apiKey.findFirst()))).toEqual(refused);
          for (const failure of await Promise.all(waiting)) expect(told(failure)).toEqual(UNAVAILABLE);
        } finally {
          held.abort();
          await busy;
        }
        expect(await database.query("SELECT 1 AS one", [])).toEqual([{ one: 1 }]);
      },
      {
        connections: { count: 1, because: "one transaction takes all of them" },
        waitingMaxCount: 3,
        connectTimeoutMs: 3_000,
      },
    );
  });

  it("reports a wrong statement of the service as an internal error", async () => {
    await opened(async (database) => {
      for (const state of ["42601", "23505", "40001"]) {
        const raise = `DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`;
        const internal = { reason: "INTERNAL", level: "error" };
        expect(told(await failureOf(database.query(raise)))).toMatchObject(internal);
        expect(told(await failureOf(database.prisma.$executeRawUnsafe(raise)))).toMatchObject(internal);
      }
    });
  });
});
