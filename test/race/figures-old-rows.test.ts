/** Statistics for operators and projects, on a real PostgreSQL with many old rows. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillOldRows } from "../../bench/support/fill-old-rows.ts";
import { listUserUsage } from "../../src/service/billing/list-user-usage.ts";
import { readUsage } from "../../src/service/billing/read-usage.ts";
import { readPresignHistory, readTreasuryHistory } from "../../src/service/operator/history/history.ts";
import { readLaneStatuses } from "../../src/service/operator/history/lane-statuses.ts";
import { readMoney } from "../../src/service/operator/history/money.ts";
import { samplePresigns, sampleTreasury } from "../../src/service/operator/history/sampling.ts";
import { readSignStatistics } from "../../src/service/operator/history/sign-statistics.ts";
import { readOutboxFigures } from "../../src/service/operator/metrics/read-database-figures.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { explainReads } from "../support/database/explain-plan.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { openRecordedDatabase, type RecordedStatement } from "../support/database/recorded-statements.ts";

const NETWORK = "localnet";
const ROWS = 60_000;
const PROJECTS = 20;
/** A table with more rows than this must never be read whole. */
const LARGE_COUNT = 400;
/** The maximum number of requests that the statistics of a window read; each has a row in three tables. */
const MEASURED_MAX_COUNT = 500;
const NO_WINDOW = { start: undefined, end: undefined };
const DAY_MS = 86_400_000;

const test = await migratedDatabase();

describe.skipIf(test === undefined)("on a database with a year of old rows", () => {
  const recorded = new Map<string, RecordedStatement>();
  let database: Database;
  let largeTables: Set<string>;
  let projectId: string;

  beforeAll(async () => {
    database = await openRecordedDatabase(test!.url, recorded);
    [projectId = ""] = await fillOldRows(test!.url, { projects: PROJECTS, rows: ROWS });
    // The filled rows bypassed the triggers.
    await database.query(
      `INSERT INTO ledger_hour SELECT project_id, date_trunc('hour', created_at, 'UTC'), kind, count(*),
         sum(amount_micro_usd) FROM ledger_entry GROUP BY 1, 2, 3`,
    );
    await database.query(
      `INSERT INTO ledger_user_hour SELECT project_id, 'user-' || n, hour, kind, entry_count, amount_micro_usd
       FROM ledger_hour, generate_series(1, 3) n`,
    );
    // Former users of the measured project, who make up most of the table.
    await database.query(
      `INSERT INTO ledger_user_hour SELECT $1, 'former-' || n, date_trunc('hour', now() - interval '200 days', 'UTC'),
         'sign', 1, -1 FROM generate_series(1, 150000) n`,
      [projectId],
    );
    await database.query(
      `INSERT INTO presign_sample SELECT $1, date_trunc('minute', now()) - n * interval '1 minute', 0, 0, 'key', 1, 1,
         1, 1, 1 FROM generate_series(1, 20160) n`,
      [NETWORK],
    );
    await database.query(
      `INSERT INTO treasury_sample SELECT $1, now() - n * interval '10 minutes', 1, 1, 1
       FROM generate_series(1, 4320) n`,
      [NETWORK],
    );
    await database.query("VACUUM (ANALYZE)");
    const large = await database.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > $1",
      [LARGE_COUNT],
    );
    largeTables = new Set(large.map(({ name }) => name));
  }, 120_000);
  afterAll(async () => {
    await database?.close();
    await test?.drop();
  });

  const now = new Date();
  const daysAgo = (days: number) => new Date(now.getTime() - days * DAY_MS);
  const window = (days: number) => ({ start: daysAgo(days), end: now, stepSeconds: 3_600 });

  /** Runs a read, and returns what its statements read from large tables. */
  async function readsOf(read: () => Promise<unknown>) {
    recorded.clear();
    await read();
    const statements = [...recorded.values()].filter(({ text }) =>
      /^\s*(?:WITH|SELECT|INSERT|DELETE)\b/.test(text),
    );
    expect(statements.length).toBeGreaterThan(0);
    return database.transaction(async (db) => {
      const found = [];
      for (const statement of statements)
        for (const one of await explainReads(db, statement)) if (largeTables.has(one.table)) found.push(one);
      return found;
    });
  }

  it.each<[string, number, () => Promise<unknown>]>([
    [
      "the statistics of signatures",
      MEASURED_MAX_COUNT,
      () => readSignStatistics(database, NETWORK, window(365), MEASURED_MAX_COUNT),
    ],
    ["the lanes", 10, () => readLaneStatuses(database, NETWORK)],
    ["the outbox", 10, () => readOutboxFigures(database, NETWORK)],
    ["the money", 3 * 25 * PROJECTS, () => readMoney(database, NETWORK)],
    // A year would have 8,760 hours.
    [
      "a project's usage of 92 days",
      92 * 24 * 2,
      () => readUsage(database, projectId, { step: "day", start: daysAgo(92), end: now }),
    ],
    [
      "a user's usage of 92 days",
      92 * 24 * 2,
      () => readUsage(database, projectId, { step: "day", start: daysAgo(92), end: now }, "user-2"),
    ],
    // A year would have three users in each hour, too.
    [
      "the users of 31 days",
      31 * 24 * 2 * 3,
      () => listUserUsage(database, projectId, { ...NO_WINDOW, pageSize: 100, pageToken: "" }, now),
    ],
    ["a day of the pool", 24 * 60, () => readPresignHistory(database, NETWORK, window(1), undefined)],
    ["a week of balances", 7 * 144, () => readTreasuryHistory(database, NETWORK, window(7))],
    ["a sample of the pool", 600, () => samplePresigns(database, NETWORK, async () => [])],
    [
      "a sample of balances",
      600,
      () => sampleTreasury(database, NETWORK, async () => ({ ika: 1n, sui: 1n, gas: 1n })),
    ],
  ])("%s never scan a large table, and read at most %i rows of one", async (_, mostRows, read) => {
    const reads = await readsOf(read);
    expect(reads.filter(({ how }) => how === "Seq Scan")).toEqual([]);
    expect(reads.filter(({ rows = 0 }) => rows > mostRows)).toEqual([]);
  });

  it("the statements have large tables to read", () => {
    expect([...largeTables]).toEqual(
      expect.arrayContaining([
        ...["sign_request", "chain_operation", "chain_transaction", "presign", "ledger_hour"],
        "ledger_user_hour",
        ...["presign_sample", "treasury_sample"],
      ]),
    );
  });
});
