/** Onboarding beyond the successful case: repeats return the same, and each refusal comes before gas is spent. */
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deriveUserShare } from "../../src/client/crypto/derive-user-share.ts";
import type { PreparedDkg, UserKeys } from "../../src/client/crypto/engine.ts";
import { createInlineEngine } from "../../src/client/crypto/engines/inline-engine.ts";
import { signDWalletOutput, signEncryptionKey } from "../../src/client/crypto/user-keys.ts";
import { sessionIdentifierDigest } from "../../src/protocol/chain/session-identifier.ts";
import { pollUntil } from "../support/poll-until.ts";
import { type SharedService, sharedService } from "../support/service/shared-service.ts";
import { base64, fromBase64 } from "../support/service/user.ts";

const engine = createInlineEngine();
const sessionIdentifier = new Uint8Array(randomBytes(32));
let service: SharedService;
let keys: UserKeys;
let dkg: PreparedDkg;
let senderAddress: string;
let networkEncryptionKeyId: string;
let registered: Json;

type Json = Record<string, string>;

beforeAll(async () => {
  service = await sharedService();
  const parameters = await service.parameters("ED25519");
  const seed = new Uint8Array(randomBytes(32));
  keys = await engine.deriveUserKeys({ curve: "ED25519", seed });
  const { json } = await call("GET", "/v1/network");
  senderAddress = json["senderAddresses"]?.[0] ?? "";
  networkEncryptionKeyId = json["networkEncryptionKeyId"] ?? "";
  const { encryptionKey } = keys;
  const sessionDigest = sessionIdentifierDigest(sessionIdentifier, senderAddress);
  dkg = await engine.prepareDkg({
    curve: "ED25519",
    userSecretKeyShare: deriveUserShare({ seed, curve: "ED25519", networkEncryptionKeyId, sessionDigest }),
    sessionDigest,
    parameters,
    encryptionKey,
  });
});

afterAll(async () => {
  keys?.[Symbol.dispose]();
  await engine.close();
});

describe("registering an encryption key", () => {
  it("refuses a signature that is not the signer's", async () => {
    const signature = base64(signEncryptionKey(keys).map((byte, i) => (i === 0 ? byte ^ 1 : byte)));
    expect(await refusal("/v1/encryption-keys", { ...keyRequest(), signature })).toBe("400 BAD_SIGNATURE");
  });

  it("makes one key for one signer, even for two calls at once", async () => {
    const [one, two] = await Promise.all([1, 2].map(() => call("POST", "/v1/encryption-keys", keyRequest())));
    registered = one?.json ?? {};
    expect(registered["encryptionKeyId"]).toMatch(/^0x[0-9a-f]{64}$/);
    expect(registered["signerAddress"]).toBe(keys.signerAddress);
    expect(two?.json).toEqual(registered);
  });

  it("refuses another key of the same signer", async () => {
    using other = await engine.deriveUserKeys({ curve: "ED25519", seed: new Uint8Array(randomBytes(32)) });
    const mixed = { ...keys, encryptionKey: other.encryptionKey };
    const request = {
      ...keyRequest(),
      encryptionKey: base64(other.encryptionKey),
      signature: base64(signEncryptionKey(mixed)),
    };
    expect(await refusal("/v1/encryption-keys", request)).toBe("409 ENCRYPTION_KEY_CONFLICT");
  });
});

describe("creating a dWallet", () => {
  it.each([
    [
      "an encryption key that the project has not",
      { encryptionKeyId: `0x${"1".repeat(64)}` },
      "404 ENCRYPTION_KEY_NOT_FOUND",
    ],
    [
      "a sender that the service does not send from",
      { senderAddress: `0x${"2".repeat(64)}` },
      "400 WRONG_SENDER",
    ],
    [
      "a network key that is not the newest",
      { networkEncryptionKeyId: `0x${"3".repeat(64)}` },
      "400 STALE_NETWORK_KEY",
    ],
    ["another curve than the key's", { curve: "SECP256K1" }, "400 VALIDATION"],
    ["another signer than the key's", { signerPublicKey: base64(new Uint8Array(32)) }, "400 VALIDATION"],
  ])("refuses %s", async (_what, change, expected) => {
    expect(await refusal("/v1/dwallets", { ...dkgRequest(), ...change })).toBe(expected);
  });

  it("makes one dWallet for one session, even for two calls at once", async () => {
    const [one, two] = await Promise.all([1, 2].map(() => call("POST", "/v1/dwallets", dkgRequest())));
    expect(one?.json["dwalletId"]).toMatch(/^0x[0-9a-f]{64}$/);
    expect(two?.json["dwalletId"]).toBe(one?.json["dwalletId"]);
    expect(two?.json["txDigest"]).toBe(one?.json["txDigest"]);
  });

  it("refuses the same session with another body", async () => {
    const userPublicOutput = base64(new Uint8Array(10));
    expect(await refusal("/v1/dwallets", { ...dkgRequest(), userPublicOutput })).toBe("409 SESSION_REUSED");
  });

  it("reports that the network rejected a forged DKG, and refuses to accept it", {
    timeout: 30_000,
  }, async () => {
    const userDkgMessage = dkg.userDkgMessage.slice();
    userDkgMessage[700]! ^= 1;
    const request = {
      ...dkgRequest(),
      userDkgMessage: base64(userDkgMessage),
      sessionIdentifier: base64(randomBytes(32)),
    };
    const { json } = await call("POST", "/v1/dwallets", request);
    expect((await stateEnd(json["dwalletId"]!))["state"]).toBe("NetworkRejectedDKGVerification");
    expect(
      await refusal(`/v1/dwallets/${json["dwalletId"]}/accept`, acceptRequest(json, new Uint8Array(64))),
    ).toBe("400 WRONG_STATE");
  });
});

describe("accepting the share", () => {
  it("checks the share and the signature, and returns the first transaction to a repeat", {
    timeout: 30_000,
  }, async () => {
    const created = (await call("POST", "/v1/dwallets", dkgRequest())).json;
    const dwallet = await stateEnd(created["dwalletId"]!);
    const path = `/v1/dwallets/${dwallet["dwalletId"]}/accept`;
    const signature = signDWalletOutput(keys, fromBase64(dwallet["publicOutput"]));
    const otherShare = {
      ...acceptRequest(dwallet, signature),
      encryptedUserSecretKeyShareId: `0x${"4".repeat(64)}`,
    };
    expect(await refusal(path, otherShare)).toBe("400 VALIDATION");
    expect(await refusal(path, acceptRequest(dwallet, new Uint8Array(64)))).toBe("400 BAD_SIGNATURE");
    const [one, two] = await Promise.all(
      [1, 2].map(() => call("POST", path, acceptRequest(dwallet, signature))),
    );
    expect(one?.json["state"]).toBe("Active");
    expect(one?.json["acceptTxDigest"]).toBeTruthy();
    expect(two?.json["acceptTxDigest"]).toBe(one?.json["acceptTxDigest"]);
  });
});

function keyRequest(): Json {
  return {
    curve: "ED25519",
    encryptionKey: base64(keys.encryptionKey),
    signature: base64(signEncryptionKey(keys)),
    signerPublicKey: base64(keys.signerPublicKey),
  };
}

function dkgRequest(): Json {
  return {
    encryptionKeyId: registered["encryptionKeyId"] ?? "",
    curve: "ED25519",
    networkEncryptionKeyId,
    senderAddress,
    sessionIdentifier: base64(sessionIdentifier),
    userDkgMessage: base64(dkg.userDkgMessage),
    encryptedUserShareAndProof: base64(dkg.encryptedUserShareAndProof),
    userPublicOutput: base64(dkg.userPublicOutput),
    signerPublicKey: base64(keys.signerPublicKey),
  };
}

function acceptRequest(dwallet: Json, signature: Uint8Array): Json {
  return {
    encryptedUserSecretKeyShareId: dwallet["encryptedUserSecretKeyShareId"] ?? "",
    userOutputSignature: base64(signature),
  };
}

/** Reads the dWallet until the network has decided. */
async function stateEnd(dwalletId: string): Promise<Json> {
  return pollUntil(async () => {
    const { json } = await call("GET", `/v1/dwallets/${dwalletId}`);
    return json["state"] !== "AwaitingNetworkDKGVerification" && json;
  });
}

async function call(method: string, path: string, body?: Json): Promise<{ status: number; json: Json }> {
  const reply = await fetch(service.access.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${service.access.apiKey}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  return { status: reply.status, json: (await reply.json()) as Json };
}

/** HTTP status and reason of a refused POST. */
async function refusal(path: string, body: Json): Promise<string> {
  const { status, json } = await call("POST", path, body);
  const details = (json["details"] ?? []) as unknown as { reason?: string }[];
  return `${status} ${details.find((detail) => detail.reason)?.reason}`;
}
