import { beforeAll, describe, expect, test } from "vitest";
import {
  type CommonOptions,
  createClient,
  type KeyOption,
  type OnboardResult,
  type TssClient,
} from "../../src/client/sdk/index.ts";
import { hexToBytes } from "../../src/protocol/bytes.ts";
import { publicKeyFromUserOutput } from "../../src/protocol/dwallet-output.ts";
import { isValidSignature } from "../support/crypto/signature-verifiers.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";

describe("a client of a running service", () => {
  const seed = globalThis.crypto.getRandomValues(new Uint8Array(32));
  const message = new TextEncoder().encode("flow");
  let service: SharedService;
  let client: TssClient;
  let onboarded: OnboardResult;

  const connect = (change: Partial<CommonOptions & KeyOption> = {}): TssClient =>
    createClient({
      baseUrl: service.access.baseUrl,
      apiKey: service.access.apiKey,
      network: "localnet",
      ...change,
    });
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
    isValidSignature({
      signatureAlgorithm: "EdDSA",
      hash: "SHA512",
      publicKey: publicKeyFromUserOutput("ED25519", hexToBytes(onboarded.userPublicOutputHex)),
      message,
      signature,
    });

  beforeAll(async () => {
    service = await sharedService();
    client = connect();
    onboarded = await client.onboard({ seed, curve: "ED25519" });
  });

  test("signs, and signs again with its cached dWallet", async () => {
    expect(isValid((await client.sign(signArgs())).signature)).toBe(true);
    expect(isValid((await client.sign(signArgs())).signature)).toBe(true);
  });

  test("gets the same signature for the same idempotency key, for one charge", async () => {
    const before = await client.raw.billing.getBalance({});
    const first = await client.sign(signArgs(), { idempotencyKey: "flow-once" });
    const second = await client.sign(signArgs(), { idempotencyKey: "flow-once" });
    expect(second).toEqual(first);
    const after = await client.raw.billing.getBalance({});
    expect(before.balanceMicroUsd - after.balanceMicroUsd).toBe(10_000n);
  });

  test("signs without the parameters that the service's folder holds, when the service serves none", async () => {
    expect(isValid((await client.sign(signArgs())).signature)).toBe(true);
    expect((await client.raw.onboarding.getNetwork({})).protocolParameters).toEqual([]);
  });

  test("resumes an aborted request by its id", async () => {
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

  test("recovers the share from the seed and the chain, and from no other seed", async () => {
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
