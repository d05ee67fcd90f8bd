import { CoordinatorInnerModule } from "@ika.xyz/sdk";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ChainEncryptionKey } from "../../../../src/protocol/chain/chain-objects.ts";
import { MixedUpAnswerError } from "../../../../src/protocol/chain/read-errors.ts";
import { createRegisterOperation } from "../../../../src/service/onboarding/register-operation.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { objectId, projectWith } from "../../../support/database/rows.ts";
import { onboardingCalls } from "../../../support/service/onboarding-calls.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

const encryptionKey = new Uint8Array(261).fill(5);
const signer = new Ed25519Keypair();
const signerAddress = signer.toSuiAddress();

/** A possible answer of a fullnode to a read of the signer's key: the same bytes on the same curve. */
const onChain = (address: string): ChainEncryptionKey => ({
  id: objectId(),
  curveNumber: 0,
  encryptionKey,
  signature: new Uint8Array(64),
  signerPublicKey: signer.getPublicKey().toRawBytes(),
  signerAddress: address,
});
const SOMEBODY = new Ed25519Keypair().toSuiAddress();

describe("an encryption key that the chain has for another signer", () => {
  it("does not count as the caller's registration", async () => {
    const projectId = await projectWith(database, 1_000_000n);
    let answer = onChain(SOMEBODY);
    const calls = onboardingCalls(database);
    const reader = { ...calls.deps.reader, registeredEncryptionKey: async () => answer };
    Object.assign(calls.deps, { readerFor: () => reader });
    const register = await calls.registration(signer, encryptionKey);
    expect(await refusalOf(register(projectId))).toBe("ENCRYPTION_KEY_CONFLICT");
    answer = onChain(signerAddress);
    const registered = await register(projectId);
    expect([registered.objectId, bytesToHex(registered.encryptionKey)]).toEqual([
      answer.id,
      bytesToHex(encryptionKey),
    ]);
  });

  it("does not count as a lost registration", async () => {
    const subject = { id: "x", curve: 0, signerAddress, encryptionKey } as never;
    const adopt = async (address: string) =>
      createRegisterOperation({ registeredEncryptionKey: async () => onChain(address) }).adopt(
        { query: async () => [] } as never,
        subject,
        { reason: "CHAIN_REJECTED", message: "" },
      );
    expect(await adopt(SOMEBODY)).toBe(false);
    expect(await adopt(signerAddress)).toBe(true);
  });
});

it("a registration that landed has the key and the digest of its own transaction", async () => {
  const calls = onboardingCalls(database);
  const projectId = await projectWith(database, 1_000_000n);
  const { rowId, objectId: before } = await calls.registeredKey(projectId);
  await database.query("UPDATE encryption_key SET object_id = NULL WHERE id = $1", [rowId]);
  const operation = createRegisterOperation({ registeredEncryptionKey: async () => undefined });
  const subjects = [...(await operation.load(database, [rowId])).values()];
  const created = (address: string) => ({
    type: `${objectId()}::coordinator_inner::CreatedEncryptionKeyEvent`,
    bcs: CoordinatorInnerModule.CreatedEncryptionKeyEvent.serialize({
      encryption_key_id: before,
      signer_address: address,
    }).toBytes(),
  });
  const landed = (address: string) =>
    operation.landed(database, subjects, { digest: "digest", events: [created(address)] } as never);
  await expect(landed(SOMEBODY)).rejects.toBeInstanceOf(MixedUpAnswerError);
  await landed(subjects[0]!.signerAddress);
  const rows = await database.query(
    `SELECT object_id AS "objectId", tx_digest AS "txDigest" FROM encryption_key WHERE id = $1`,
    [rowId],
  );
  expect(rows).toEqual([{ objectId: before, txDigest: "digest" }]);
});
