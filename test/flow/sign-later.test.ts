/**
 * A half that its user gives now and another key releases later, with real cryptography on one service. It is killed
 * once the half is given, and at night also after the release. Node's own code judges the signature.
 */
import { createPublicKey, verify } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createClient, SignHoldState, type TssClient } from "../../src/client/sdk/index.ts";
import { environment } from "../support/environment.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";

const curve = "ED25519";
const algorithm = { curve, signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
const [SIGN_PRICE, HOLD_PRICE] = [10_000n, 3_000n];
const settings = {
  PRESIGN_BUCKETS: "ED25519/EdDSA",
  BILLING_PRICE_SIGN_MICRO_USD: String(SIGN_PRICE),
  BILLING_PRICE_HOLD_MICRO_USD: String(HOLD_PRICE),
};
const { folder, keys, remove } = await bakedFolder();
const { seed, onboarded: wallet } = keys[curve];
let service: ServiceProcess;
let signerKey: string;
let approverKey: string;

beforeAll(async () => {
  service = await startService(folder, settings);
  [signerKey, approverKey] = [await keyWith("propose", "read"), await keyWith("release", "read")];
}, 120_000);
afterAll(async () => {
  await service?.stop();
  remove();
});

describe("a half that is given for later", { timeout: 600_000 }, () => {
  it("becomes one signature once another key releases it, whatever step the service dies after", async () => {
    const message = new TextEncoder().encode("a payment for tomorrow");
    const before = await balance();
    const give = () => later(message, "first");
    const { signRequestId } = await killedAfter(give);
    expect((await give()).signRequestId).toBe(signRequestId);
    expect(await balance()).toBe(before - SIGN_PRICE - HOLD_PRICE);
    const held = await clientOf(approverKey).getSign({ signRequestId });
    expect([held.hold?.state, held.signature]).toEqual([SignHoldState.held, undefined]);

    await expect(clientOf(signerKey).releaseSign({ signRequestId })).rejects.toMatchObject({
      reason: "SCOPE_MISSING",
    });
    const atOnce = clientOf(signerKey).sign({
      ...own(),
      message,
      userSecretKeyShareHex: wallet.userSecretKeyShareHex,
    });
    await expect(atOnce).rejects.toMatchObject({ reason: "SCOPE_MISSING" });
    const another = clientOf(approverKey).signLater({ ...own(), message, holdSeconds: 600 });
    await expect(another).rejects.toMatchObject({ reason: "SCOPE_MISSING" });

    const release = () => clientOf(approverKey).releaseSign({ signRequestId });
    // By day, service-crash.test.ts kills the service after a half is given to the network.
    await (environment.isReference ? killedAfter(release) : release());
    const { signature } = await clientOf(approverKey).resumeSign({ signRequestId });
    expect(isValid(message, signature)).toBe(true);
    expect(isValid(new TextEncoder().encode("another payment"), signature)).toBe(false);
    expect(await balance()).toBe(before - SIGN_PRICE - HOLD_PRICE);
  });

  it("becomes no signature once it is cancelled, and costs the hold alone", async () => {
    const before = await balance();
    const { signRequestId } = await later(new TextEncoder().encode("a mistake"), "second");
    await clientOf(signerKey).cancelSign({ signRequestId });
    await expect(clientOf(approverKey).releaseSign({ signRequestId })).rejects.toMatchObject({
      reason: "WRONG_STATE",
    });
    const ended = await clientOf(approverKey).getSign({ signRequestId });
    expect([ended.failure?.reason, ended.signature]).toEqual(["SIGN_CANCELLED", undefined]);
    expect(await balance()).toBe(before - HOLD_PRICE);
  });
});

const own = () => ({ seed, dwalletId: wallet.dwallet.id, ...algorithm });

function later(message: Uint8Array, idempotencyKey: string) {
  const args = {
    ...own(),
    message,
    holdSeconds: 86_400,
    userSecretKeyShareHex: wallet.userSecretKeyShareHex,
  };
  return clientOf(signerKey).signLater(args, { idempotencyKey });
}

/** Makes a call, kills the service, and makes the call again. */
async function killedAfter<T>(call: () => Promise<T>): Promise<T> {
  await call();
  await service.crash();
  service = await startService(folder, settings);
  return await call();
}

function clientOf(apiKey: string): TssClient {
  const { baseUrl, fullnodeUrl } = service.access;
  return createClient({ baseUrl, apiKey, network: "localnet", fullnodeUrl });
}

async function keyWith(...scopes: string[]): Promise<string> {
  const { projectId } = await clientOf(service.access.apiKey).account();
  const reply = await fetch(`${service.access.baseUrl}/v1/admin/projects/${projectId}/api-keys`, {
    method: "POST",
    headers: { authorization: `Bearer ${service.access.adminApiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ name: scopes[0], scopes }),
  });
  const { plaintext } = (await reply.json()) as { plaintext: string };
  return plaintext;
}

async function balance(): Promise<bigint> {
  return (await clientOf(service.access.apiKey).balance()).balanceMicroUsd;
}

function isValid(message: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(wallet.publicKeyHex, "hex").toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, message, key, signature);
}
