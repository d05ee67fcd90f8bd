/** The user's signatures are verified before anything is queued, because the service pays for it on the chain. */
import { randomBytes } from "node:crypto";
import { create } from "@bufbuild/protobuf";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import {
  AcceptDWalletRequestSchema,
  RegisterEncryptionKeyRequestSchema,
} from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../../../gen/proto/tss/v1/types_pb.ts";
import { acceptDWallet } from "../../../../src/service/onboarding/accept-dwallet.ts";
import { registerEncryptionKey } from "../../../../src/service/onboarding/encryption-keys.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, objectId, projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { onboardingCalls } from "../../../support/service/onboarding-calls.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

const [user, other] = [new Ed25519Keypair(), new Ed25519Keypair()];
const time = { timeoutMs: 10_000, signal: new AbortController().signal };
let database: Database;
let projectId: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
});

it("an encryption key without its signer's signature is not registered", async () => {
  const { deps } = onboardingCalls(database);
  const encryptionKey = new Uint8Array(randomBytes(261));
  const register = async (signature: Uint8Array) =>
    registerEncryptionKey(
      deps,
      { projectId, origin: TEST_ORIGIN },
      create(RegisterEncryptionKeyRequestSchema, {
        curve: Curve.SECP256K1,
        encryptionKey,
        signature,
        signerPublicKey: user.getPublicKey().toRawBytes(),
      }),
      time,
    );
  expect(await refusalOf(register(await other.sign(encryptionKey)))).toBe("BAD_SIGNATURE");
  expect(await refusalOf(register(await user.sign(new Uint8Array(261))))).toBe("BAD_SIGNATURE");
  expect(await operations()).toBe(0);
  expect((await register(await user.sign(encryptionKey))).objectId).toMatch(/^0x/);
});

it("a dWallet whose output its user has not signed is not accepted", async () => {
  const { deps } = onboardingCalls(database);
  const reader = { ...deps.readerFor(projectId), getObjects: async () => new Map() };
  const { rowId, objectId: dwalletId } = await dwalletOf(database, projectId, {
    state: "AwaitingKeyHolderSignature",
  });
  const [publicOutput, shareId] = [new Uint8Array(randomBytes(64)), objectId()];
  await database.query(
    `UPDATE dwallet SET signer_public_key = $2, public_output = $3, encrypted_user_secret_key_share_id = $4
     WHERE id = $1`,
    [rowId, user.getPublicKey().toRawBytes(), publicOutput, shareId],
  );
  const accept = (userOutputSignature: Uint8Array, encryptedUserSecretKeyShareId = shareId) =>
    acceptDWallet(
      { ...deps, readerFor: () => reader },
      { projectId, origin: TEST_ORIGIN },
      create(AcceptDWalletRequestSchema, { dwalletId, encryptedUserSecretKeyShareId, userOutputSignature }),
      time,
    );
  expect(await refusalOf(accept(await other.sign(publicOutput)))).toBe("BAD_SIGNATURE");
  expect(await refusalOf(accept(await user.sign(new Uint8Array(64))))).toBe("BAD_SIGNATURE");
  expect(await refusalOf(accept(await user.sign(publicOutput), objectId()))).toBe("VALIDATION");
  expect(await operations()).toBe(0);
});

async function operations(): Promise<number> {
  return (await database.query("SELECT 1 FROM chain_operation WHERE state <> 'landed'")).length;
}
