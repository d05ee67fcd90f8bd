/** A project with 30,000 sessions, at night with 100,000: what a process remembers of them, and how the sweep deletes them. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { REMEMBERED_MAX_COUNT } from "../../../../src/service/access/keys/key-lookup.ts";
import { createSessionLookup } from "../../../../src/service/access/stored-sessions.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import {
  createSessionSweep,
  SWEEP_BATCH_COUNT,
  sweepSessions,
} from "../../../../src/service/users/session-sweep.ts";
import { countSessions } from "../../../../src/service/users/sessions.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith } from "../../../support/database/rows.ts";
import { environment } from "../../../support/environment.ts";
import { silentLog } from "../../../support/silent-log.ts";

const COUNT = environment.isReference ? 100_000 : 30_000;
/** By day, the process remembers fewer sessions. */
const LIMIT = environment.isReference ? REMEMBERED_MAX_COUNT : 500;
let database: Database;
let projectId: string;
const tokenOf = (index: number) => `tss_session_${String(index).padStart(32, "0")}`;

beforeAll(async () => {
  database = await openTestDatabase();
  projectId = await projectWith(database, 0n);
  await database.query(
    `WITH made AS (
       INSERT INTO session (id, project_id, user_reference, hash, scopes, origins, expires_at)
       SELECT gen_random_uuid(), $1, 'user-' || i % 10000,
              sha256(convert_to('tss_session_' || lpad(i::text, 32, '0'), 'utf8')), '{read}', '{}',
              now() + CASE WHEN i % 2 = 0 THEN interval '1 hour' ELSE interval '-2 days' END
       FROM generate_series(1, $2::int) i RETURNING id, project_id, user_reference)
     INSERT INTO allowance (id, project_id, user_references, dwallet_ids, algorithms)
     SELECT id, project_id, ARRAY[user_reference], '{}', '{}' FROM made`,
    [projectId, COUNT],
  );
  await database.query("ANALYZE session, allowance");
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("a process remembers at most 10,000 sessions, and the rest cost one look-up each", async () => {
  expect(REMEMBERED_MAX_COUNT).toBe(10_000);
  let missCount = 0;
  const lookup = createSessionLookup({
    database: { query: (...statement) => database.query(...statement) },
    log: silentLog,
    now: () => 0,
    rememberedMaxCount: LIMIT,
    onLookup: (result) => {
      if (result === "miss") missCount++;
    },
  });
  // The look-ups of one address are bounded, so each has its own.
  const findAll = async (first: number, count: number) => {
    for (let from = first; from < first + count; from += 500) {
      const each = Array.from({ length: 500 }, (_, offset) => from + offset);
      await Promise.all(each.map((index) => lookup.find(tokenOf(2 * index), String(index))));
    }
  };
  const count = LIMIT + 500;
  await findAll(1, count);
  expect(missCount).toBe(count);
  expect(lookup.recall(tokenOf(2))).toBeUndefined();
  expect(lookup.recall(tokenOf(2 * count))).toMatchObject({ userReference: `user-${(2 * count) % 10_000}` });
  let recalledCount = 0;
  for (let index = 1; index <= count; index++)
    if (lookup.recall(tokenOf(2 * index)) !== undefined) recalledCount++;
  expect(recalledCount).toBe(LIMIT);
}, 120_000);

it("the sweep deletes the sessions that expired a day ago, with their allowances, in bounded batches", async () => {
  expect(await countSessions(database, projectId)).toBe(COUNT / 2);
  expect(await sweepSessions(database, 10)).toBe(10);
  const batches: number[] = [];
  const observed = {
    query: async <Row>(statement: string, parameters?: readonly unknown[]) => {
      const rows = await database.query<Row>(statement, parameters);
      batches.push(rows.length);
      if (rows.length < SWEEP_BATCH_COUNT) finish();
      return rows;
    },
  };
  let finish = () => {};
  const finished = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const sweep = createSessionSweep({ database: observed, clock: systemClock, log: silentLog });
  sweep.start();
  await finished;
  await sweep.stop();
  expect(Math.max(...batches)).toBe(SWEEP_BATCH_COUNT);
  expect(batches.reduce((sum, count) => sum + count, 0)).toBe(COUNT / 2 - 10);
  const [left] = await database.query<{ sessions: bigint; allowances: bigint }>(
    `SELECT (SELECT count(*) FROM session) AS sessions, (SELECT count(*) FROM allowance) AS allowances`,
  );
  expect(left).toEqual({ sessions: BigInt(COUNT / 2), allowances: BigInt(COUNT / 2) });
}, 120_000);
