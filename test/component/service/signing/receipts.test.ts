import { ConnectError } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../../../gen/proto/google/rpc/error_details_pb.ts";
import { Receipts } from "../../../../gen/proto/tss/v1/receipts_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Hash, SignatureAlgorithm } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { receiptFromJson, receiptToJson } from "../../../../src/client/sdk/receipts/receipt-json.ts";
import { verifyReceipt } from "../../../../src/client/sdk/receipts/verify-receipt.ts";
import { isChargeProved } from "../../../../src/protocol/seals/proved-charge.ts";
import { signatureFromChain } from "../../../../src/protocol/signatures/signature-forms.ts";
import { createSealKey } from "../../../../src/service/audit/seal-events.ts";
import {
  createLocalCoordination,
  createLocalSignals,
} from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { createReceiptsService } from "../../../../src/service/signing/receipts-service.ts";
import { failSignRequest } from "../../../../src/service/signing/sign-operation.ts";
import { createSigningService } from "../../../../src/service/signing/signing-service.ts";
import { checkHalfInline } from "../../../support/crypto/inline-verifier.ts";
import { SIGNATURE_VECTORS } from "../../../support/crypto/signature-vectors.ts";
import { exported, sealAll, verified } from "../../../support/database/audit-trail.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
} from "../../../support/database/rows.ts";
import { guideExamples } from "../../../support/repository/guide-examples.ts";
import { clientOf } from "../../../support/service/service-client.ts";

const VECTOR = SIGNATURE_VECTORS.find(
  ({ triple }) => triple.signatureAlgorithm === "ECDSASecp256k1" && triple.hash === "SHA256",
)!;
const SEAL_KEY = createSealKey(new Secret("11".repeat(32)));
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const callerOf = (projectId: string) =>
  ({
    kind: "project",
    projectId,
    apiKeyId: newId(),
    network: "localnet",
    scopes: ["sign"],
    origin: TEST_ORIGIN,
  }) as const;

/** The calls about receipts, of a project. */
function receiptsOf(projectId: string) {
  const service = createReceiptsService({ database, coordination: createLocalCoordination() });
  return clientOf(Receipts, service, () => callerOf(projectId));
}

/** Submits a request of a new project, and gives it the vector's signature, as the network would. */
async function completedSign({ isCompleted = true } = {}) {
  const projectId = await projectWith(database, 1_000n);
  const dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 1);
  const signals = createLocalSignals();
  const service = createSigningService({
    database,
    signals,
    clock: systemClock,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    checkHalf: checkHalfInline,
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
  });
  const caller = () => callerOf(projectId);
  const signing = clientOf(Signing, service, caller);
  const { signRequestId } = await signing.reserveSign({
    dwalletId: dwallet.objectId,
    signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
    hashScheme: Hash.SHA256,
    message: VECTOR.message,
  });
  await signing.submitSign({ signRequestId, userSignMessage: layoutOfSignMessage() });
  await database.query("UPDATE dwallet SET public_key = $2 WHERE project_id = $1", [
    projectId,
    Buffer.from(VECTOR.publicKey),
  ]);
  if (isCompleted)
    await database.query("UPDATE sign_request SET status = 'completed', signature = $2 WHERE id = $1", [
      signRequestId,
      Buffer.from(signatureFromChain(VECTOR.triple.signatureAlgorithm, VECTOR.chainSignature)),
    ]);
  return { projectId, signRequestId };
}

const TRUST = { dwalletPublicKey: VECTOR.publicKey, publicKeys: [SEAL_KEY.publicKey] };

it("a project gets the receipt of its signature, and only its own project and request pass with it", async () => {
  const [own, others] = [await completedSign(), await completedSign()];
  await sealAll(database, SEAL_KEY);
  const receipt = await receiptsOf(own.projectId).getSignReceipt(own);
  const foreign = await receiptsOf(others.projectId).getSignReceipt(others);
  expect(verifyReceipt(receipt, TRUST)).toEqual([]);
  expect(verifyReceipt(foreign, TRUST)).toEqual([]);
  const { sealHash } = receipt.auditSeal!;
  expect(verifyReceipt(receipt, { ...TRUST, expectedSealHash: sealHash, publicKeys: [] })).toEqual([]);
  expect(receipt.charge).toMatchObject({
    ledgerEntryId: `sign:${own.signRequestId}`,
    priceMicroUsd: 10n,
  });

  const { auditEvent, auditSeal, auditPath } = foreign;
  expect(verifyReceipt({ ...receipt, auditEvent, auditSeal, auditPath }, TRUST)).toEqual(["entry", "charge"]);
  expect(verifyReceipt({ ...receipt, projectId: foreign.projectId }, TRUST)).toEqual(["entry"]);
  expect(verifyReceipt({ ...receipt, signRequest: foreign.signRequest }, TRUST)).toEqual(["entry", "charge"]);
  expect(verifyReceipt(receipt, { ...TRUST, publicKeys: [] })).toEqual(["anchor"]);
});

it("the audited submission has the price and the ledger entry of the ledger, and a changed receipt is refused", async () => {
  const own = await completedSign();
  await sealAll(database, SEAL_KEY);
  const receipt = await receiptsOf(own.projectId).getSignReceipt(own);
  const [entry] = await database.query<{ key: string; amount: bigint }>(
    "SELECT key, amount_micro_usd AS amount FROM ledger_entry WHERE project_id = $1 AND kind = 'sign'",
    [own.projectId],
  );
  expect(receipt.auditEvent).toMatchObject({
    ledgerEntryId: entry!.key,
    amountMicroUsd: BigInt(entry!.amount),
  });
  expect(isChargeProved(receipt)).toBe(true);
  const faultsOf = (changes: object) =>
    verifyReceipt({ ...receipt, charge: { ...receipt.charge!, ...changes } }, TRUST);
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ priceMicroUsd: 9n })).toEqual(["charge"]);
  expect(faultsOf({ ledgerEntryId: `sign:${newId()}` })).toEqual(["charge"]);
  expect(verifyReceipt({ ...receipt, charge: undefined }, TRUST)).toEqual(["charge"]);
  expect((await verified(await exported(database))).faults).toEqual([]);
});

it("a refund is audited with its ledger entry, and leaves the request without a receipt", async () => {
  const { projectId, signRequestId } = await completedSign({ isCompleted: false });
  await failSignRequest(database, signRequestId, {
    from: "queued",
    reason: "NETWORK_REJECTED",
    message: "no",
  });
  await sealAll(database, SEAL_KEY);
  const events = await database.query(
    `SELECT action, ledger_entry_id AS entry, amount_micro_usd::text AS amount FROM audit_event
     WHERE subject = $1 ORDER BY id`,
    [signRequestId],
  );
  expect(events).toEqual(
    expect.arrayContaining([
      { action: "sign.reserve", entry: null, amount: null },
      { action: "sign.submit", entry: `sign:${signRequestId}`, amount: "-10" },
      { action: "sign.fail", entry: null, amount: null },
      { action: "sign.refund", entry: `refund:${signRequestId}`, amount: "10" },
    ]),
  );
  const refusal = receiptsOf(projectId).getSignReceipt({ signRequestId });
  expect(await refusal.then(() => "a receipt", reasonAndState)).toBe("WRONG_STATE failed");
  expect((await verified(await exported(database))).faults).toEqual([]);
});

it("a submission that an older release wrote or sealed has a valid receipt, which does not prove the price", async () => {
  const [written, sealed] = [await completedSign(), await completedSign()];
  const change = (statement: string, ids: readonly string[]) =>
    database.transaction(async (db) => {
      await db.query("ALTER TABLE audit_event DISABLE TRIGGER audit_event_append_only", []);
      await db.query(statement, ids);
      await db.query("ALTER TABLE audit_event ENABLE TRIGGER audit_event_append_only", []);
    });
  const clear = "UPDATE audit_event SET ledger_entry_id = NULL, amount_micro_usd = NULL WHERE subject = $1";
  await change(clear, [written.signRequestId]);
  // An older release hashes no ledger entry, and leaves the version of the leaf at its default.
  await change(clear, [sealed.signRequestId]);
  await database.query("ALTER TABLE audit_leaf DISABLE TRIGGER audit_leaf_append_only", []);
  await sealAll(database, SEAL_KEY);
  await database.query(
    `UPDATE audit_leaf SET version = 1 WHERE audit_event_id IN (SELECT id FROM audit_event WHERE subject = $1)`,
    [sealed.signRequestId],
  );
  await database.query("ALTER TABLE audit_leaf ENABLE TRIGGER audit_leaf_append_only", []);
  await change(
    `UPDATE audit_event SET ledger_entry_id = 'sign:' || subject, amount_micro_usd = -10
     WHERE subject = $1 AND action = 'sign.submit'`,
    [sealed.signRequestId],
  );
  for (const own of [written, sealed]) {
    const receipt = await receiptsOf(own.projectId).getSignReceipt(own);
    expect(receipt.charge?.priceMicroUsd).toBe(10n);
    expect(verifyReceipt(receipt, TRUST)).toEqual([]);
    expect(isChargeProved(receipt)).toBe(false);
  }
  expect((await verified(await exported(database))).faults).toEqual([]);
});

it("a receipt is refused if its key is not the known one, although its signature fits its key", async () => {
  const own = await completedSign();
  await sealAll(database, SEAL_KEY);
  const receipt = await receiptsOf(own.projectId).getSignReceipt(own);
  // The other point with the same x.
  const dwalletPublicKey = VECTOR.publicKey.with(0, VECTOR.publicKey[0]! ^ 1);
  expect(verifyReceipt(receipt, { ...TRUST, dwalletPublicKey })).toEqual(["public_key", "signature"]);
});

it("a receipt survives its file, and one without a signature or of an unknown algorithm is not valid", async () => {
  const own = await completedSign();
  await sealAll(database, SEAL_KEY);
  const json = receiptToJson(await receiptsOf(own.projectId).getSignReceipt(own));
  const receipt = receiptFromJson(json.replace("{", '{ "aNewerField": 1,'));
  const faultsOf = (changes: object) =>
    verifyReceipt({ ...receipt, signRequest: { ...receipt.signRequest!, ...changes } }, TRUST);
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ signature: undefined })).toEqual(["signature"]);
  expect(faultsOf({ hashScheme: 99 })).toEqual(["signature"]);
  expect(faultsOf({ hashScheme: Hash.KECCAK256 })).toEqual(["signature"]);
  expect(verifyReceipt({ ...receipt, signRequest: undefined }, TRUST)).toEqual([
    "signature",
    "entry",
    "charge",
  ]);
  expect(() => receiptFromJson("[]")).toThrow();
});

it("nobody gets a receipt of another project, before the signature, or before the seal", async () => {
  const [own, other] = [await completedSign(), await completedSign({ isCompleted: false })];
  const reasonOf = (projectId: string, signRequestId: string) =>
    receiptsOf(projectId)
      .getSignReceipt({ signRequestId })
      .then(() => "a receipt", reasonAndState);
  expect(await reasonOf(own.projectId, own.signRequestId)).toBe("WRONG_STATE unsealed");
  await sealAll(database, SEAL_KEY);
  expect(await reasonOf(own.projectId, own.signRequestId)).toBe("a receipt");
  expect(await reasonOf(other.projectId, own.signRequestId)).toBe("SIGN_REQUEST_NOT_FOUND");
  expect(await reasonOf(own.projectId, newId())).toBe("SIGN_REQUEST_NOT_FOUND");
  expect(await reasonOf(other.projectId, other.signRequestId)).toBe("WRONG_STATE queued");
});

it("one project's receipts are bounded, and leave another project its own", async () => {
  const [own, other] = [await completedSign(), await completedSign()];
  await sealAll(database, SEAL_KEY);
  const service = createReceiptsService({ database, coordination: createLocalCoordination() });
  const [receipts, others] = [own, other].map(({ projectId }) =>
    clientOf(Receipts, service, () => callerOf(projectId)),
  );
  const answers = await Promise.all(
    Array.from({ length: 60 }, () => receipts!.getSignReceipt(own).then(() => "a receipt", reasonAndState)),
  );
  expect(answers.filter((answer) => answer === "RATE_LIMITED").length).toBeGreaterThan(0);
  expect((await others!.getSignReceipt(other)).projectId).toBe(other.projectId);
});

it("the guide's example accepts a true receipt and names the fault of another one", async () => {
  const { checkReceipt } = await guideExamples("docs/sdk.md", "Read what the service knows");
  const own = await completedSign();
  await sealAll(database, SEAL_KEY);
  const json = receiptToJson(await receiptsOf(own.projectId).getSignReceipt(own));
  const check = (text: string) =>
    (checkReceipt as (...args: unknown[]) => void)(text, VECTOR.publicKey, SEAL_KEY.publicKey);
  expect(() => check(json)).not.toThrow();
  expect(() => check(json.replace(own.projectId, newId()))).toThrow("the receipt is wrong: entry");
});

/** The reason of an error, with the state that it names. */
function reasonAndState(error: unknown): string {
  const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
  return [info?.reason, info?.metadata["state"] ?? info?.metadata["status"]].filter(Boolean).join(" ");
}
