/** Calls while a real PostgreSQL ends connections, refuses them or is not there. */
import { Code } from "@connectrpc/connect";
import pg from "pg";
import { afterAll, describe, expect, it } from "vitest";
import { createErrorMapping, type FailureRecord, reasonOf } from "../../src/errors/error-mapping.ts";
import type { Database } from "../../src/store/database.ts";
import { openPostgres } from "../../src/store/open-postgres.ts";
import { createPoolDatabase } from "../../src/store/pool-database.ts";
import { silentLog } from "../support/database.ts";
import { environment } from "../support/environment.ts";
import { testDatabase } from "../support/postgres.ts";

const test = await testDatabase();
const admin = new pg.Client({ connectionString: environment.databaseUrl });
if (test !== undefined) await admin.connect();
afterAll(async () => {
  await admin.end();
  await test?.drop();
});

const CALL = { requestId: "r-1", method: "tss.v1.Signing/ReserveSign" };

/** What the caller is told of a failure, and what the log is. */
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
    admin.query("SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = $1", [name]);
  const asleep = async () => {
    const sleeping = "SELECT 1 FROM pg_stat_activity WHERE datname = $1 AND wait_event = 'PgSleep'";
    while ((await admin.query(sleeping, [name])).rowCount === 0);
  };
  async function opened<T>(work: (database: Database) => Promise<T>): Promise<T> {
    const database = await openPostgres(test!.url, silentLog);
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
      const work = database.transaction(async (sql) => {
        await endConnections();
        await sql.query("SELECT 1", []);
      });
      expect(told(await failureOf(work))).toEqual(UNAVAILABLE);
    });
  });

  it("is not there", async () => {
    const pool = new pg.Pool({ connectionString: "postgresql://nobody@127.0.0.1:1/none" });
    const database = createPoolDatabase({ kind: "postgres", pool });
    expect(told(await failureOf(database.query("SELECT 1", [])))).toEqual(UNAVAILABLE);
    expect(told(await failureOf(database.prisma.apiKey.findFirst()))).toEqual(UNAVAILABLE);
    await database.close();
  });

  it("was full, but not one that a statement of ours is wrong in", async () => {
    await opened(async (database) => {
      const raise = (state: string) =>
        failureOf(database.query(`DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '${state}'; END $$`));
      expect(told(await raise("53300"))).toEqual(UNAVAILABLE);
      for (const state of ["42601", "23505", "40001"])
        expect(told(await raise(state))).toMatchObject({ reason: "INTERNAL", level: "error" });
    });
  });
});
