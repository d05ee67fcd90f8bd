/**
 * A half that its user gives now and another key or session releases later, with real cryptography on one service. It is killed
 * once the half is given, and at night also after the release. Node's own code judges the signature.
 */
import { createPublicKey, randomBytes, verify } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type CreatedSession,
  createClient,
  SignHoldState,
  type TssClient,
} from "../../src/client/sdk/index.ts";
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

it("a page gives a half with its session, and a second device of the user releases it with another", {
  timeout: 600_000,
}, async () => {
  const userReference = "alice";
  const ofAlice = new Uint8Array(randomBytes(32));
  const { dwallet, publicKeyHex } = await clientOf(service.access.apiKey).onboard({
    ...{ seed: ofAlice, curve, userReference },
  });
  const backend = clientOf(await keyWith("sessions", "propose", "release", "read"));
  const sessionOf = async (user: string, scopes: ("propose" | "release" | "read")[]) =>
    clientOf(await backend.sessions.create({ userReference: user, scopes }));
  const page = await sessionOf(userReference, ["propose", "read"]);
  const message = new TextEncoder().encode("a payment from a page");
  const asked = { seed: ofAlice, dwalletId: dwallet.id, ...algorithm, message };
  await expect(page.sign(asked)).rejects.toMatchObject({ reason: "SCOPE_MISSING" });
  const { signRequestId } = await page.signLater({ ...asked, holdSeconds: 600 });
  await expect(page.releaseSign({ signRequestId })).rejects.toMatchObject({ reason: "SCOPE_MISSING" });
  const stranger = await sessionOf("mallory", ["release"]);
  await expect(stranger.releaseSign({ signRequestId })).rejects.toMatchObject({
    reason: "SIGN_REQUEST_NOT_FOUND",
  });
  const device = await sessionOf(userReference, ["release", "read"]);
  await device.releaseSign({ signRequestId });
  const { signature } = await device.resumeSign({ signRequestId });
  expect(isValid(message, signature, publicKeyHex)).toBe(true);
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

/** A client with a key, or with a session. */
function clientOf(caller: string | CreatedSession): TssClient {
  const { baseUrl, fullnodeUrl } = service.access;
  const credential = typeof caller === "string" ? { apiKey: caller } : { session: async () => caller };
  return createClient({ baseUrl, ...credential, network: "localnet", fullnodeUrl });
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

function isValid(message: Uint8Array, signature: Uint8Array, publicKeyHex = wallet.publicKeyHex): boolean {
  const x = Buffer.from(publicKeyHex, "hex").toString("base64url");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  return verify(null, message, key, signature);
}
