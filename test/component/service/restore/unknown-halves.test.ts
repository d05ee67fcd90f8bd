/** Halves that the Treasury keeps and that a restored database does not know. */
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { findUnknownHalves } from "../../../../src/service/restore/unknown-halves.ts";
import { readSignRequest } from "../../../../src/service/signing/sign-request.ts";
import { holdSteps, keyCaller } from "../../../support/crypto/hold-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, objectId, projectWith, readyPresigns } from "../../../support/database/rows.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("are reported with their dWallet and their last epoch, unlike those of a request that was sent", async () => {
  const steps = holdSteps(database, createLocalSignals());
  const projectId = await projectWith(database, 1_000n);
  const dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 2);
  const signer = await keyCaller(database, projectId, ["sign"]);
  // The copy has the reservation of the second one alone.
  const [held, reserved] = [await steps.held(signer, dwallet), await steps.reserve(signer, dwallet)];
  const halfOf = async (id: string) => {
    const { presignId } = (await readSignRequest(database, { id }))!;
    return { dwalletId: dwallet.objectId, presignId, lastEpoch: 7n };
  };
  const foreign = { dwalletId: objectId(), presignId: objectId(), lastEpoch: 8n };
  const halves = [await halfOf(held), await halfOf(reserved), foreign];
  const reported = await findUnknownHalves(database, "localnet", halves);
  expect(reported.map(({ what, id }) => [what, id])).toEqual([
    ["held half", halves[1]!.presignId],
    ["held half", foreign.presignId],
  ]);
  expect(reported[1]?.reason).toContain(`${foreign.dwalletId}: nothing releases it`);
  expect(reported[1]?.reason).toContain("until epoch 8");
});
