/** What becomes of operations that the chain refuses, by the refusal and by what the chain knows of them. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { MixedUpAnswerError } from "../../../../../src/protocol/chain/read-errors.ts";
import type { OperationFailure, OperationKind } from "../../../../../src/service/chain/operation.ts";
import type { ExecutionFailure } from "../../../../../src/service/chain/outcome.ts";
import { INVALID_TRANSACTION } from "../../../../../src/service/chain/submit/classify.ts";
import type { QueuedOperation } from "../../../../../src/service/chain/submit/outbox.ts";
import { createRefusalHandler } from "../../../../../src/service/chain/submit/refuse-operations.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const FAULT: ExecutionFailure = {
  kind: "MoveAbort",
  message: "abort 7",
  abort: { module: "treasury", code: 7 },
};
const USED: ExecutionFailure = { ...FAULT, abort: { module: "sessions_manager", code: 3 } };
const PAUSED: ExecutionFailure = { ...FAULT, abort: { module: "treasury", code: 2 } };
const CONGESTED: ExecutionFailure = { kind: "CongestedObjects", message: "" };
const STALE: ExecutionFailure = { kind: INVALID_TRANSACTION, message: "invalid object digest" };

let database: Database;
/** What the chain and the database know of a subject. */
let known: {
  onChain: boolean | Error;
  spent: OperationFailure | undefined;
  isLoaded: boolean;
};
let told: string[];

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  await database.query("DELETE FROM chain_operation", []);
  known = { onChain: false, spent: undefined, isLoaded: true };
  told = [];
});

describe("a refused batch", () => {
  it("is split until the faulty operation is alone, and nothing fails before", async () => {
    const batch = [await queue(), await queue()];
    await refuse(batch, FAULT);
    for (const { id } of batch)
      expect(await rowOf(id)).toMatchObject({ state: "queued", alone: true, attempts: 1, delayMs: 0 });
    expect(told).toEqual(["requeued"]);
  });

  it.each([
    ["congestion", CONGESTED],
    ["another version of the lane's objects", STALE],
    ["a paused Treasury", PAUSED],
  ])("stays together if the refusal is about all of it: %s", async (_, failure) => {
    const batch = [await queue(), await queue()];
    await refuse(batch, failure);
    for (const { id } of batch) expect(await rowOf(id)).toMatchObject({ state: "queued", alone: false });
  });

  it("of no operations is nothing", async () => {
    await refuse([], FAULT);
    expect(told).toEqual([]);
  });
});

describe("a refused operation", () => {
  it("fails for its own fault, with the abort", async () => {
    const operation = await queue();
    await refuse([operation], FAULT);
    expect(await rowOf(operation.id)).toMatchObject({ state: "failed", reason: "CHAIN_REJECTED" });
    expect(told).toEqual([
      `adopt ${operation.subjectId}`,
      `failed CHAIN_REJECTED: the chain refused the operation: abort 7 in treasury`,
      `notify ${operation.id}`,
    ]);
  });

  it.each([
    ["a fault", FAULT],
    ["a used session", USED],
    ["a version", STALE],
  ])("lands if the chain has it already, whatever the refusal is: %s", async (_, failure) => {
    known.onChain = true;
    const operation = await queue();
    await refuse([operation], failure);
    expect(await rowOf(operation.id)).toMatchObject({ state: "landed" });
    expect(told).toEqual([`adopt ${operation.subjectId}`, `notify ${operation.id}`]);
  });

  it("waits while the chain has its session and does not show it yet", async () => {
    const operation = await queue();
    await refuse([operation], USED);
    expect(await rowOf(operation.id)).toMatchObject({ state: "queued", alone: true, attempts: 1 });
    expect(told).toEqual([`adopt ${operation.subjectId}`, "requeued"]);
  });

  it("waits for the operator, and reports the cause", async () => {
    const operation = await queue();
    await refuse([operation], PAUSED);
    expect(await rowOf(operation.id)).toMatchObject({ state: "queued", alone: false, attempts: 1 });
    expect(told).toEqual(["blocked treasury_paused", "requeued"]);
  });

  it("fails once another transaction has used its own object, and waits while that is not proven", async () => {
    const operation = await queue();
    await refuse([operation], STALE);
    expect(await rowOf(operation.id)).toMatchObject({ state: "queued", alone: false, attempts: 1 });
    known.spent = { reason: "COIN_SPENT", message: "another transaction used the coin" };
    await refuse([operation], CONGESTED);
    expect(await rowOf(operation.id)).toMatchObject({ state: "queued" });
    told = [];
    await refuse([operation], STALE);
    expect(await rowOf(operation.id)).toMatchObject({ state: "failed", reason: "COIN_SPENT" });
    expect(told.slice(1)).toEqual([
      "failed COIN_SPENT: another transaction used the coin",
      `notify ${operation.id}`,
    ]);
  });

  it("stays in the queue if the fullnode shows another one's mark, and passes on any other error", async () => {
    const operation = await queue();
    known.onChain = new MixedUpAnswerError("transaction", "another one's");
    await refuse([operation], FAULT);
    expect(await rowOf(operation.id)).toMatchObject({ state: "queued", alone: true, attempts: 1 });
    known.onChain = new Error("the fullnode is away");
    await expect(refuse([operation], FAULT)).rejects.toThrow("the fullnode is away");
  });

  it("whose subject is gone fails alone", async () => {
    known.isLoaded = false;
    const operation = await queue();
    await refuse([operation], FAULT);
    expect(await rowOf(operation.id)).toMatchObject({ state: "failed" });
    expect(told).toEqual([`notify ${operation.id}`]);
  });

  it.each([
    [0, 50, 100],
    [3, 400, 800],
    [20, 15_000, 30_000],
  ])("is sent again after a pause that doubles up to half a minute: %d", async (attempts, from, to) => {
    const operation = await queue(attempts);
    await refuse([operation], CONGESTED);
    const { delayMs } = (await rowOf(operation.id))!;
    expect(delayMs).toBeGreaterThan(from - 2);
    expect(delayMs).toBeLessThanOrEqual(to);
  });
});

const kind: Partial<OperationKind<string>> = {
  load: async (_, ids) => new Map(known.isLoaded ? ids.map((id) => [id, id]) : []),
  async adopt(_, subject) {
    told.push(`adopt ${subject}`);
    if (known.onChain instanceof Error) throw known.onChain;
    return known.onChain;
  },
  failed: async (_, __, { reason, message }) => void told.push(`failed ${reason}: ${message}`),
  findSpent: async () => known.spent,
};

const refuse = (operations: readonly QueuedOperation[], failure: ExecutionFailure): Promise<void> =>
  createRefusalHandler({
    database,
    kindOf: () => kind as OperationKind,
    log: silentLog,
    notify: (ended) => void told.push(...ended.map(({ id }) => `notify ${id}`)),
    requeued: () => void told.push("requeued"),
    onBlocked: (cause) => void told.push(`blocked ${cause}`),
    retryBaseMs: 100,
  })(operations, failure);

async function queue(attempts = 0): Promise<QueuedOperation> {
  const [id, subjectId] = [newId(), newId()];
  await database.query(
    `INSERT INTO chain_operation (id, network, kind, subject_id, priority, attempts)
     VALUES ($1, 'localnet', 'sign', $2, 10, $3)`,
    [id, subjectId, attempts],
  );
  return { id, subjectId, attempts, kind: "sign", alone: false, traceParent: null };
}

/** Returns an operation's row, with the pause that it was given. */
async function rowOf(id: string) {
  const [row] = await database.query<{ state: string; delayMs: number }>(
    `SELECT state, alone, attempts, failure_reason AS reason,
       (extract(epoch FROM not_before - updated_at) * 1000)::int AS "delayMs" FROM chain_operation WHERE id = $1`,
    [id],
  );
  return row;
}
