/** A user's way to a dWallet through the service's calls, over a fullnode that accepts every operation. */
import { randomBytes } from "node:crypto";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DWallet_State, Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Curve } from "../../../../gen/proto/tss/v1/types_pb.ts";
import {
  createOnboardingService,
  type OnboardingServiceDeps,
} from "../../../../src/service/onboarding/onboarding-service.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { onboardingCalls } from "../../../support/service/onboarding-calls.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

it("registers a key, creates its dWallet, and shows both to their project", async () => {
  let projectId = await projectWith(database, 1_000_000n);
  const calls = onboardingCalls(database);
  const onboarding = clientOf(
    Onboarding,
    createOnboardingService(calls.deps as OnboardingServiceDeps),
    () => ({
      ...{
        kind: "project",
        projectId,
        apiKeyId: "key",
        network: "localnet",
        scopes: [],
        origin: TEST_ORIGIN,
      },
    }),
  );
  const keypair = new Ed25519Keypair();
  const signerPublicKey = keypair.getPublicKey().toRawBytes();
  const encryptionKey = new Uint8Array(randomBytes(261));
  const request = { curve: Curve.SECP256K1, encryptionKey, signerPublicKey };
  const signature = await keypair.sign(encryptionKey);
  expect(
    await refusalOf(onboarding.registerEncryptionKey({ ...request, signature: new Uint8Array(64) })),
  ).toBe("BAD_SIGNATURE");
  const key = await onboarding.registerEncryptionKey({ ...request, signature });
  expect(key).toMatchObject({ curve: Curve.SECP256K1, signerAddress: keypair.toSuiAddress() });
  expect((await onboarding.listEncryptionKeys({})).encryptionKeys).toEqual([key]);

  const made = { rowId: "", objectId: key.encryptionKeyId, signerPublicKey };
  const dwallet = await onboarding.createDWallet(calls.dkgRequest(made));
  expect(dwallet).toMatchObject({ state: DWallet_State.Submitting, encryptionKeyId: key.encryptionKeyId });
  const { dwalletId } = dwallet;
  expect(dwalletId).toMatch(/^0x[0-9a-f]{64}$/);
  expect((await onboarding.listDWallets({})).dwallets).toEqual([dwallet]);
  // The network has not made its key yet.
  const acceptance = { dwalletId, encryptedUserSecretKeyShareId: key.encryptionKeyId };
  expect(
    await refusalOf(onboarding.acceptDWallet({ ...acceptance, userOutputSignature: new Uint8Array(64) })),
  ).toBe("VALIDATION");

  // Another project's user with the same keys is another user.
  projectId = await projectWith(database, 0n);
  expect((await onboarding.listEncryptionKeys({})).encryptionKeys).toEqual([]);
  const again = await onboarding.registerEncryptionKey({ ...request, signature });
  expect((await onboarding.listEncryptionKeys({})).encryptionKeys).toEqual([again]);
});
