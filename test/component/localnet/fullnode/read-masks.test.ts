/** Read masks that the local fullnode refuses, as the Sui SDK's generated client sees it. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Harness, startHarness } from "../harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const readMask = { paths: ["digest", "nowhere"] };

test("every call with a mask refuses a path that its message lacks, even if it would return nothing", async () => {
  const { client } = harness;
  const { ledgerService, stateService, subscriptionService, transactionExecutionService } = client;
  const calls = [
    () => ledgerService.getObject({ objectId: "0x6", readMask }),
    () => ledgerService.batchGetObjects({ requests: [{ objectId: "0x6" }], readMask }),
    () => ledgerService.getTransaction({ digest: "none", readMask }),
    () => ledgerService.batchGetTransactions({ digests: [], readMask }),
    () => ledgerService.getCheckpoint({ checkpointId: { oneofKind: undefined }, readMask }),
    () => ledgerService.getEpoch({ readMask: { paths: ["nowhere"] } }),
    () => stateService.listOwnedObjects({ owner: "0x1234", readMask }),
    () => stateService.listDynamicFields({ parent: "0x1234", readMask: { paths: ["nowhere"] } }),
    () => transactionExecutionService.executeTransaction({ signatures: [], readMask }),
    () => transactionExecutionService.simulateTransaction({ readMask: { paths: ["nowhere"] } }),
    () => subscriptionService.subscribeCheckpoints({ readMask }),
  ];
  for (const call of calls) {
    const error = await Promise.resolve(call()).then(
      () => undefined,
      (reason: unknown) => reason as { code: string; message: string },
    );
    expect({
      call: call.toString(),
      code: error?.code,
      message: decodeURIComponent(error?.message ?? ""),
    }).toEqual({
      call: call.toString(),
      code: "INVALID_ARGUMENT",
      message: "invalid read_mask path: nowhere",
    });
  }
});
