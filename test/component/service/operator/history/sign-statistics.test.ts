import { afterAll, beforeAll, expect, it } from "vitest";
import { readSignStatistics } from "../../../../../src/service/operator/history/sign-statistics.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { signSteps } from "../../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import {
  dwalletOf,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../../../../support/database/rows.ts";

const NETWORK = "localnet";
const START = new Date("2026-11-21T10:00:00Z");
const window = { start: START, end: new Date("2026-11-21T11:00:00Z"), stepSeconds: 600 };
let database: Database;
let projectId: string;
let dwallet: TestDWalletRow;
let signing: ReturnType<typeof signSteps>;

beforeAll(async () => {
  database = await openTestDatabase();
  projectId = await projectWith(database, 1_000_000n);
  dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 20);
  signing = signSteps(database, createLocalSignals());
  // The creation in seconds after the start, then the seconds until the request is queued, lands and completes.
  await complete({ createdAt: 0, preparedS: 1, queuedS: 2, submittedS: 3 });
  await complete({ createdAt: 60, preparedS: 2, queuedS: 4, submittedS: 6 });
  await complete({ createdAt: 120, preparedS: 90, queuedS: 80, submittedS: 70 });
  await complete({ createdAt: 1_200, preparedS: 5, queuedS: 6, submittedS: 7 });
  const rejected = await submitted(1_300);
  await signing.land(rejected);
  await signing.reject(rejected);
  await moveTo(await signing.reserve(projectId, dwallet), 1_400);
  await moveTo(await signing.reserve(projectId, dwallet), -1);
  await moveTo(await signing.reserve(projectId, dwallet), 3_600);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

async function moveTo(id: string, createdAtS: number): Promise<void> {
  await database.query("UPDATE sign_request SET created_at = $2 WHERE id = $1", [id, after(createdAtS)]);
}

async function submitted(createdAtS: number): Promise<string> {
  const id = await signing.reserve(projectId, dwallet);
  await moveTo(id, createdAtS);
  await signing.submit(projectId, id);
  return id;
}

interface Times {
  readonly createdAt: number;
  readonly preparedS: number;
  readonly queuedS: number;
  readonly submittedS: number;
}

/** Signs once, then moves the recorded times. */
async function complete({ createdAt, preparedS, queuedS, submittedS }: Times): Promise<void> {
  const id = await submitted(createdAt);
  await signing.land(id);
  await signing.complete(id, dwallet);
  const queuedAt = createdAt + preparedS;
  const landedAt = queuedAt + queuedS;
  await database.query(
    `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures, state, resolved_at)
     VALUES ($1, $2, '0xs', '0xl', '', '{}', 'landed', $3)`,
    [id, NETWORK, after(landedAt)],
  );
  await database.query(
    "UPDATE chain_operation SET created_at = $2, tx_digest = $3, state = 'landed' WHERE kind = 'sign' AND subject_id = $1",
    [id, after(queuedAt), id],
  );
  await database.query("UPDATE sign_request SET updated_at = $2 WHERE id = $1", [
    id,
    after(landedAt + submittedS),
  ]);
}

const after = (seconds: number) => new Date(START.getTime() + seconds * 1_000);

it("the statistics count every request that was created in the window, by state", async () => {
  const { requestCount, coveredFrom, total } = await readSignStatistics(database, NETWORK, window);
  expect(requestCount).toBe(6);
  expect(coveredFrom).toBeUndefined();
  expect(total.statuses).toEqual([
    { status: "completed", count: 4 },
    { status: "failed", count: 1 },
    { status: "prepared", count: 1 },
  ]);
});

it("the statistics measure the stages of completed requests", async () => {
  const { total } = await readSignStatistics(database, NETWORK, window);
  expect(total.stages).toEqual([
    { stage: "prepared", count: 4, p50Seconds: 2, p99Seconds: 90 },
    { stage: "queued", count: 4, p50Seconds: 4, p99Seconds: 80 },
    { stage: "signed", count: 4, p50Seconds: 10, p99Seconds: 150 },
    { stage: "submitted", count: 4, p50Seconds: 6, p99Seconds: 70 },
  ]);
});

it("a request belongs to the step in which it was created", async () => {
  const { steps } = await readSignStatistics(database, NETWORK, window);
  expect(steps.map(({ step, statuses }) => [step, statuses])).toEqual([
    [0, [{ status: "completed", count: 3 }]],
    [
      2,
      [
        { status: "completed", count: 1 },
        { status: "failed", count: 1 },
        { status: "prepared", count: 1 },
      ],
    ],
  ]);
  expect(steps[1]!.stages).toContainEqual({ stage: "submitted", count: 1, p50Seconds: 7, p99Seconds: 7 });
});

it("a window with too many requests is measured by its newest ones, and the reply says from which time on", async () => {
  const { requestCount, coveredFrom, total } = await readSignStatistics(database, NETWORK, window, 3);
  expect(requestCount).toBe(3);
  expect(coveredFrom).toEqual(after(1_200));
  expect(total.statuses).toContainEqual({ status: "completed", count: 1 });
});

it("another network's requests are not counted", async () => {
  expect(await readSignStatistics(database, "testnet", window)).toMatchObject({
    requestCount: 0,
    total: { statuses: [], stages: [] },
    steps: [],
  });
});
