import { bcs } from "@mysten/sui/bcs";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { PastTransaction } from "../../../../src/service/chain/restore/lost-transactions.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createSignRebuilder } from "../../../../src/service/restore/rebuild-signs.ts";
import { emptyRequests } from "../../../../src/service/signing/loops/retention-loop.ts";
import { createSignOperation } from "../../../../src/service/signing/sign-operation.ts";
import { signRequested } from "../../../support/chain/chain-bytes.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import { endOperation } from "../../../support/database/retention-rows.ts";
import { dwalletOf, moneyOf, objectId, projectWith, readyPresigns } from "../../../support/database/rows.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("a request whose half was deleted by retention is rebuilt with the half on the chain", async () => {
  const signals = createLocalSignals();
  const steps = signSteps(database, signals);
  const operation = createSignOperation({
    signals,
    senderAddress: objectId(),
    batchCount: 10,
    refundsPerDay: 20,
    reader: { sessionRequest: async () => undefined },
  });
  const projectId = await projectWith(database, 10n);
  const dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 1);
  const id = await steps.reserve(projectId, dwallet);
  await steps.submit(projectId, id);
  const subject = (await operation.load(database, [id])).get(id)!;
  const signId = objectId();
  const events = [signRequested(subject, signId), signPaid(signId, subject, id)];
  await steps.land(id);
  await steps.complete(id, dwallet);
  await endOperation(database, id);
  expect(await emptyRequests(database, 0, 10)).toBe(1);
  const money = await moneyOf(database, projectId);

  const { rebuild } = createSignRebuilder({ network: "localnet", prices: flatPrices(10n) });
  const transaction = { digest: "digest", version: 1n, events };
  const rebuilt = await rebuild(database, transaction, {} as PastTransaction);
  expect(rebuilt).toEqual({ subjectIds: [id], unrecoverable: [] });
  const again = (await operation.load(database, [id])).get(id)!;
  expect(again.userSignMessage).toEqual(subject.userSignMessage);
  await operation.landed(database, [again], transaction);
  expect(await moneyOf(database, projectId)).toEqual(money);
});

function signPaid(
  signId: string,
  { dwalletId, presignId }: Record<"dwalletId" | "presignId", string>,
  id: string,
) {
  const SignPaid = bcs.struct("SignPaid", {
    treasury_id: bcs.Address,
    operator_cap_id: bcs.Address,
    sign_id: bcs.Address,
    dwallet_id: bcs.Address,
    presign_id: bcs.Address,
    ika: bcs.u64(),
    sui: bcs.u64(),
    request_ref: bcs.byteVector(),
  });
  const values = {
    treasury_id: objectId(),
    operator_cap_id: objectId(),
    ika: 1n,
    sui: 1n,
    sign_id: signId,
    dwallet_id: dwalletId,
    presign_id: presignId,
    request_ref: new TextEncoder().encode(id),
  };
  return { type: `${objectId()}::treasury::SignPaid`, bcs: SignPaid.serialize(values).toBytes() };
}
