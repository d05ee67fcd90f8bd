import { toJsonString } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Admin, GetAuditProofResponseSchema } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { Signing } from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import { Hash, SignatureAlgorithm } from "../../../../../gen/proto/tss/v1/types_pb.ts";
import { auditProofFromJson } from "../../../../../src/client/sdk/admin/audit-proof-from-json.ts";
import { verifyReceipt } from "../../../../../src/client/sdk/verify-receipt.ts";
import { signatureFromChain } from "../../../../../src/protocol/signatures/signature-forms.ts";
import { createSealKey } from "../../../../../src/service/audit/seal-events.ts";
import { createLocalSignals } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../../src/service/platform/telemetry/secret.ts";
import { createPresignQueue } from "../../../../../src/service/presigns/presign-queue.ts";
import { createSigningService } from "../../../../../src/service/signing/signing-service.ts";
import { checkHalfInline } from "../../../../support/crypto/inline-verifier.ts";
import { SIGNATURE_VECTORS } from "../../../../support/crypto/signature-vectors.ts";
import { sealAll } from "../../../../support/database/audit-trail.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { flatPrices } from "../../../../support/database/prices.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  projectWith,
  readyPresigns,
  TEST_OPERATOR,
  TEST_ORIGIN,
} from "../../../../support/database/rows.ts";
import { guideExamples } from "../../../../support/repository/guide-examples.ts";
import { wholeAdminService } from "../../../../support/service/admin-service.ts";
import { clientOf } from "../../../../support/service/service-client.ts";

const VECTOR = SIGNATURE_VECTORS.find(
  ({ triple }) => triple.signatureAlgorithm === "ECDSASecp256k1" && triple.hash === "SHA256",
)!;
const SEAL_KEY = createSealKey(new Secret("11".repeat(32)));
let database: Database;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

/** Submits a request of a new project, and gives it the vector's signature, as the network would. */
async function completedSign() {
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
  const signing = clientOf(Signing, service, () => ({
    kind: "project",
    projectId,
    apiKeyId: newId(),
    network: "localnet",
    scopes: [],
    origin: TEST_ORIGIN,
  }));
  const { signRequestId } = await signing.reserveSign({
    dwalletId: dwallet.objectId,
    signatureAlgorithm: SignatureAlgorithm.ECDSASecp256k1,
    hashScheme: Hash.SHA256,
    message: VECTOR.message,
  });
  await signing.submitSign({ signRequestId, userSignMessage: layoutOfSignMessage() });
  await database.query("UPDATE sign_request SET status = 'completed', signature = $2 WHERE id = $1", [
    signRequestId,
    Buffer.from(signatureFromChain(VECTOR.triple.signatureAlgorithm, VECTOR.chainSignature)),
  ]);
  return { projectId, signRequest: await signing.getSign({ signRequestId }) };
}

/** The proof that an operator hands out: the output of `tss audit proof --json`. */
async function proofOf(projectId: string, signRequestId: string) {
  const service = wholeAdminService({
    accounts: { database, lookup: { forget() {} } },
    adminKeys: {} as never,
    chain: {} as never,
    presigns: {} as never,
  });
  const admin = clientOf(Admin, service, () => TEST_OPERATOR);
  const { auditEvents } = await admin.listAuditEvents({ projectId });
  const submitted = auditEvents.filter(
    ({ action, subject }) => action === "sign.submit" && subject === signRequestId,
  );
  expect(submitted).toHaveLength(1);
  const reply = await admin.getAuditProof({ auditEventId: submitted[0]!.auditEventId });
  return toJsonString(GetAuditProofResponseSchema, reply, { alwaysEmitImplicit: true });
}

it("a signature of the service has a receipt, and only its own project and request pass with it", async () => {
  const [own, others] = [await completedSign(), await completedSign()];
  await sealAll(database, SEAL_KEY);
  const trust = { publicKeys: [SEAL_KEY.publicKey] };
  const receiptOf = async ({ projectId, signRequest }: typeof own) => ({
    projectId,
    signRequest,
    publicKey: VECTOR.publicKey,
    proof: auditProofFromJson(await proofOf(projectId, signRequest.signRequestId)),
  });
  const [receipt, foreign] = [await receiptOf(own), await receiptOf(others)];
  expect(verifyReceipt(receipt, trust)).toEqual([]);
  expect(verifyReceipt(foreign, trust)).toEqual([]);
  const { sealHash } = receipt.proof.auditSeal!;
  expect(verifyReceipt(receipt, { expectedSealHash: sealHash })).toEqual([]);

  expect(verifyReceipt({ ...receipt, proof: foreign.proof }, trust)).toEqual(["entry"]);
  expect(verifyReceipt({ ...receipt, projectId: foreign.projectId }, trust)).toEqual(["entry"]);
  expect(verifyReceipt({ ...receipt, signRequest: foreign.signRequest }, trust)).toEqual(["entry"]);
});

it("a request without a signature, or of an unknown algorithm, has no valid receipt", async () => {
  const { projectId, signRequest } = await completedSign();
  await sealAll(database, SEAL_KEY);
  const proof = auditProofFromJson(await proofOf(projectId, signRequest.signRequestId));
  const faultsOf = (changes: object) =>
    verifyReceipt(
      { projectId, signRequest: { ...signRequest, ...changes }, publicKey: VECTOR.publicKey, proof },
      { publicKeys: [SEAL_KEY.publicKey] },
    );
  expect(faultsOf({})).toEqual([]);
  expect(faultsOf({ signature: undefined })).toEqual(["signature"]);
  expect(faultsOf({ hashScheme: 99 })).toEqual(["signature"]);
  expect(faultsOf({ hashScheme: Hash.KECCAK256 })).toEqual(["signature"]);
});

it("the guide's example accepts a true receipt and names the fault of another one", async () => {
  const { checkReceipt } = await guideExamples("docs/sdk.md", "Read what the service knows");
  const { projectId, signRequest } = await completedSign();
  await sealAll(database, SEAL_KEY);
  const proof = await proofOf(projectId, signRequest.signRequestId);
  const check = (project: string) => () =>
    (checkReceipt as (...args: unknown[]) => void)(
      ...[project, signRequest, VECTOR.publicKey, proof, SEAL_KEY.publicKey],
    );
  expect(check(projectId)).not.toThrow();
  expect(check(newId())).toThrow("the receipt is wrong: entry");
});
