import { UserShareEncryptionKeys } from "@ika.xyz/sdk";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { DevelopmentAccess } from "../../src/cli/development-file.ts";
import { startThrowawayService, type ThrowawayService } from "../../src/cli/throwaway-service.ts";
import { deriveUserKeys } from "../../src/crypto/user-keys.ts";
import { CURVES } from "../../src/protocol/algorithms.ts";
import { bytesToHex, hexToBytes } from "../../src/protocol/bytes.ts";
import { publicKeyFromUserOutput } from "../../src/protocol/dwallet-output.ts";
import { createClient, type OnboardResult, type TssClient } from "../../src/sdk/index.ts";
import { judge } from "../support/judges.ts";

test.each(CURVES)("on %s a random seed's keys are the Ika SDK's", async (curve) => {
  const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));
  const own = deriveUserKeys(seed, curve);
  const sdk = await UserShareEncryptionKeys.fromRootSeedKey(seed, curve);
  // The seed is shown when they differ.
  expect([bytesToHex(seed), bytesToHex(own.encryptionKey)]).toEqual([
    bytesToHex(seed),
    bytesToHex(sdk.encryptionKey),
  ]);
  expect(bytesToHex(own.decryptionKey.reveal())).toBe(bytesToHex(sdk.decryptionKey));
  expect(own.signerAddress).toBe(sdk.getSuiAddress());
});

describe("a client of a running service", () => {
  const seed = new Uint8Array(32).fill(42);
  const message = new TextEncoder().encode("flow");
  let service: ThrowawayService;
  let access: DevelopmentAccess;
  let client: TssClient;
  let onboarded: OnboardResult;

  const connect = (change: Partial<Parameters<typeof createClient>[0]> = {}): TssClient =>
    createClient({ baseUrl: access.baseUrl, apiKey: access.apiKey, network: access.network, ...change });
  const signArgs = () => ({
    seed,
    dwalletId: onboarded.dwallet.id,
    curve: "ED25519" as const,
    signatureAlgorithm: "EdDSA" as const,
    hashScheme: "SHA512" as const,
    message,
    userSecretKeyShareHex: onboarded.userSecretKeyShareHex,
  });
  const isValid = (signature: Uint8Array): boolean =>
    judge({
      signatureAlgorithm: "EdDSA",
      hash: "SHA512",
      publicKey: publicKeyFromUserOutput("ED25519", hexToBytes(onboarded.userPublicOutputHex)),
      message,
      signature,
    });

  beforeAll(async () => {
    service = await startThrowawayService({ PRESIGN_BUCKETS: "ED25519/EdDSA" });
    access = service.access;
    client = connect();
    onboarded = await client.onboard({ seed, curve: "ED25519" });
  });
  afterAll(async () => {
    await service?.stop();
  });

  test("signs, and signs a second time with what it has", async () => {
    expect(isValid((await client.sign(signArgs())).signature)).toBe(true);
    expect(isValid((await client.sign(signArgs())).signature)).toBe(true);
  });

  test("the same idempotency key gives the same signature and is charged once", async () => {
    const before = await client.raw.billing.getBalance({});
    const first = await client.sign(signArgs(), { idempotencyKey: "flow-once" });
    const second = await client.sign(signArgs(), { idempotencyKey: "flow-once" });
    expect(second).toEqual(first);
    const after = await client.raw.billing.getBalance({});
    expect(before.balanceMicroUsd - after.balanceMicroUsd).toBe(10_000n);
  });

  test("after an abort the request goes on and is picked up by its id", async () => {
    const abort = new AbortController();
    const interrupted = client.sign(signArgs(), {
      signal: abort.signal,
      onProgress: (stage) => {
        if (stage === "queued" || stage === "submitted") abort.abort();
      },
    });
    const error = await interrupted.catch((cause: unknown) => cause);
    expect(error).toMatchObject({ reason: "ABORTED" });
    const { signRequestId } = (error as { metadata: { signRequestId: string } }).metadata;
    expect(isValid((await client.resumeSign({ signRequestId })).signature)).toBe(true);
  });

  test("the share is recovered from the seed and the chain, and from no other seed", async () => {
    const { userSecretKeyShareHex, userPublicOutputHex, dwallet } = onboarded;
    const args = { curve: "ED25519", dwalletId: dwallet.id } as const;
    await expect(client.recoverShare({ seed, ...args })).resolves.toMatchObject({
      userSecretKeyShareHex,
      userPublicOutputHex,
    });
    const other = client.recoverShare({ seed: new Uint8Array(32).fill(43), ...args });
    await expect(other).rejects.toMatchObject({ reason: "SHARE_UNVERIFIED" });
  });

  test("an unknown key, another network and an unknown dWallet are refused with their reasons", async () => {
    const unknownKey = connect({ apiKey: `tss_local_${"x".repeat(32)}` });
    await expect(unknownKey.sign(signArgs())).rejects.toMatchObject({
      reason: "INVALID_KEY",
      requestId: expect.any(String),
    });
    const otherNetwork = connect({ network: "testnet" });
    await expect(otherNetwork.onboard({ seed, curve: "ED25519" })).rejects.toMatchObject({
      reason: expect.stringMatching(/^NETWORK_/),
    });
    const unknown = client.sign({ ...signArgs(), dwalletId: `0x${"7".repeat(64)}` });
    await expect(unknown).rejects.toMatchObject({ reason: "DWALLET_NOT_FOUND" });
  });
});
