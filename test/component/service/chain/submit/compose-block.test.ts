import { afterAll, beforeAll, expect, it } from "vitest";
import { enqueueOperation, type OperationKind } from "../../../../../src/service/chain/operation.ts";
import { composeBlock } from "../../../../../src/service/chain/submit/build-transaction.ts";
import type { QueuedOperation } from "../../../../../src/service/chain/submit/outbox.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { silentLog } from "../../../../support/silent-log.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("an operation that can never be sent fails with its reason, and the rest is sent", async () => {
  const failed: string[] = [];
  const kind = {
    name: "dkg",
    priority: 20,
    batchCount: 8,
    load: async (_sql, ids) => new Map(ids.map((id) => [id, id])),
    sizeBytes: () => 1,
    obstacle: (subject) =>
      subject === foreign ? { reason: "WRONG_SENDER", message: "another hot wallet" } : undefined,
    add: (calls, subjects) => calls.payDkg({ subjects } as never),
    landed: async () => {},
    failed: async (_sql, subject) => void failed.push(subject),
    adopt: async () => false,
  } satisfies OperationKind<string>;
  const [foreign, own] = [await queue(), await queue()];
  const operations = await database.query<QueuedOperation>(
    `SELECT id, kind, subject_id AS "subjectId", alone, attempts FROM chain_operation ORDER BY id`,
  );
  const block = await composeBlock(
    { database, kinds: new Map([["dkg", kind as OperationKind]]), log: silentLog },
    operations,
  );
  expect(block?.operations.map(({ subjectId }) => subjectId)).toEqual([own]);
  const added: unknown[] = [];
  block?.addCalls({ payDkg: (call: unknown) => added.push(call) } as never);
  expect(added).toEqual([{ subjects: [own] }]);
  expect(failed).toEqual([foreign]);
  expect(
    await database.query("SELECT state, failure_reason FROM chain_operation WHERE subject_id = $1", [
      foreign,
    ]),
  ).toEqual([{ state: "failed", failure_reason: "WRONG_SENDER" }]);
});

it.each([
  [50 * 1024, 2],
  [50 * 1024 + 1, 1],
  [200 * 1024, 1],
])("operations of %d bytes fill 100 KiB, and one goes alone however large it is", async (size, count) => {
  await database.query("DELETE FROM chain_operation", []);
  for (let index = 0; index < 3; index++) await queue();
  const kind = {
    ...{ name: "dkg", priority: 20, batchCount: 8, sizeBytes: () => size },
    load: async (_: unknown, ids: readonly string[]) => new Map(ids.map((id) => [id, id])),
  } as unknown as OperationKind;
  const operations = await database.query<QueuedOperation>(
    `SELECT id, kind, subject_id AS "subjectId", alone, attempts FROM chain_operation ORDER BY id`,
  );
  const block = await composeBlock({ database, kinds: new Map([["dkg", kind]]), log: silentLog }, operations);
  expect(block?.operations).toEqual(operations.slice(0, count));
});

async function queue(): Promise<string> {
  const subjectId = newId();
  const operation = { id: newId(), network: "localnet", kind: "dkg", subjectId, priority: 20 } as const;
  await enqueueOperation(database, operation);
  return subjectId;
}
