/** Frequent statements on a real PostgreSQL with many old rows. */
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fillOldRows } from "../../bench/support/fill-old-rows.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import { explainReads } from "../support/database/explain-plan.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { openRecordedDatabase, type RecordedStatement } from "../support/database/recorded-statements.ts";
import { callEverythingHot } from "../support/service/hot-calls.ts";

const ROWS = 60_000;
const PROJECTS = 20;
/** A table with more rows than this must never be read whole. */
const LARGE_COUNT = 400;
/** The most rows that one statement may read of one table: a page has 20, and a transaction has ten operations. */
const READ_MAX_COUNT = 600;
const KEY_ID = `0x${"02".repeat(32)}`;

const test = await migratedDatabase();

describe.skipIf(test === undefined)("a database with a year of old rows", () => {
  const recorded = new Map<string, RecordedStatement>();
  let database: Database;
  let largeTables: Set<string>;

  beforeAll(async () => {
    database = await openRecordedDatabase(test!.url, recorded);
    const projectIds = await fillOldRows(test!.url, {
      projects: PROJECTS,
      rows: ROWS,
      networkEncryptionKeyId: KEY_ID,
    });
    const large = await database.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND reltuples > $1",
      [LARGE_COUNT],
    );
    largeTables = new Set(large.map(({ name }) => name));
    recorded.clear();
    await callEverythingHot(database, { projectId: projectIds[0]!, networkEncryptionKeyId: KEY_ID });
  }, 120_000);
  afterAll(async () => {
    await database?.close();
    await test?.drop();
  });

  it("has many rows in every table that signing writes to", () => {
    expect([...largeTables]).toEqual(
      expect.arrayContaining([
        ...["audit_event", "audit_leaf", "chain_operation", "chain_transaction", "dwallet", "encryption_key"],
        ...["idempotency_key", "ledger_entry", "presign", "sign_request"],
      ]),
    );
  });

  it("is never scanned by a frequent statement, in a generic plan or one for the largest project", async () => {
    const statements = [...recorded.values()].filter(({ text }) =>
      /^\s*(?:WITH|SELECT|INSERT|UPDATE|DELETE)\b/.test(text),
    );
    expect(statements.length).toBeGreaterThan(40);
    const scans = await database.transaction(async (db) => {
      const found: string[] = [];
      for (const statement of statements) {
        for (const { table, how, rows } of await explainReads(db, statement)) {
          if (!largeTables.has(table)) continue;
          if (how === "Seq Scan" || (rows ?? 0) > READ_MAX_COUNT)
            found.push(`${how} of ${table}, ${rows ?? "?"} rows: ${statement.text.trim().slice(0, 300)}`);
        }
      }
      return found;
    });
    expect(scans).toEqual([]);
  });
});
