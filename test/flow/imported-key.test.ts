/**
 * Keys that users had before. The client imports an Ethereum key while the service is killed. With a Solana key, Ika's own
 * WebAssembly acts as the user, over the public contract.
 */
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, verify } from "node:crypto";
import * as IkaWasm from "@ika.xyz/ika-wasm";
import { hashMessage, keccak256, recoverAddress, toHex } from "viem";
import { generatePrivateKey, privateKeyToAddress } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { UserKeys } from "../../src/client/crypto/engine.ts";
import { createInlineEngine } from "../../src/client/crypto/engines/inline-engine.ts";
import { loadIkaWasm } from "../../src/client/crypto/engines/reference-engine.ts";
import { signDWalletOutput, signEncryptionKey } from "../../src/client/crypto/user-keys.ts";
import { keyFromHex } from "../../src/client/keys/index.ts";
import type { ActionOptions } from "../../src/client/sdk/action.ts";
import { createClient, createRecovery, type TssClient, TssError } from "../../src/client/sdk/index.ts";
import { addRecovery, joinPieces } from "../../src/client/seed/pieces/index.ts";
import { type AlgorithmTriple, findTriple } from "../../src/protocol/algorithms.ts";
import { sessionIdentifierDigest } from "../../src/protocol/chain/session-identifier.ts";
import { atNight, environment } from "../support/environment.ts";
import { pollUntil } from "../support/poll-until.ts";
import { bakedFolder } from "../support/service/baked-folder.ts";
import { type ServiceProcess, startService } from "../support/service/service.ts";
import { base64, downloadParameters, fromBase64 } from "../support/service/user.ts";

const TIMEOUT_MS = 180_000;
const IMPORT_PRICE = 30_000n;
const SIGN_PRICE = 10_000n;
const ENVIRONMENT = {
  PRESIGN_BUCKETS: "ED25519/EdDSA,SECP256K1/ECDSASecp256k1",
  PROTOCOL_PARAMETERS: "on",
  BILLING_PRICE_IMPORT_MICRO_USD: String(IMPORT_PRICE),
  BILLING_PRICE_SIGN_MICRO_USD: String(SIGN_PRICE),
};

const { folder, remove } = await bakedFolder();
const engine = createInlineEngine();
let service: ServiceProcess;

type Json = Record<string, string>;

beforeAll(async () => {
  service = await startService(folder, ENVIRONMENT);
});
afterAll(async () => {
  await engine.close();
  await service?.stop();
  remove();
});

describe("an imported key", () => {
  it("of Ethereum signs as its own address, whatever step the service dies after, and is charged once", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const privateKey = generatePrivateKey();
    const address = privateKeyToAddress(privateKey);
    const seed = new Uint8Array(randomBytes(32));
    const key = { seed, ...keyFromHex({ hex: privateKey, curve: "SECP256K1" }) };
    const before = await balance();
    const [first = "", ...others] = atNight(["dkg", "activate"], ["activate"]);
    let token = await tokenOfCrashed(first, (options) => newClient().importKey(key, options));
    for (const stage of others)
      token = await tokenOfCrashed(stage, (options) => newClient().resume(token, key, options));
    const client = newClient();
    const made = await client.resume(token, key);
    if (made.kind !== "onboard") throw new Error("another action was resumed");
    expect(made.addresses).toContainEqual({ kind: "ethereum", address });
    const listed: string[] = [];
    for await (const { dwalletId } of client.listDWallets()) listed.push(dwalletId);
    expect(listed.filter((id) => id === made.dwallet.id)).toHaveLength(1);
    expect(await balance()).toBe(before - IMPORT_PRICE);

    const text = "signed with a key that existed before the dWallet";
    const message = Buffer.from(`\x19Ethereum Signed Message:\n${text.length}${text}`);
    const { signature } = await client.sign({
      ...{ seed, dwalletId: made.dwallet.id, message },
      ...{ curve: "SECP256K1", signatureAlgorithm: "ECDSASecp256k1", hashScheme: "KECCAK256" },
    });
    expect(keccak256(toHex(message))).toBe(hashMessage(text));
    const recovered = await recoverAddress({ hash: hashMessage(text), signature: toHex(signature) });
    expect(recovered).toBe(address);
    expect(await balance()).toBe(before - IMPORT_PRICE - SIGN_PRICE);

    const { fullnodeUrl, ikaConfig, treasuryId } = await client.raw.onboarding.getNetwork({});
    const recovery = createRecovery({
      ...{ network: "localnet", fullnodeUrl, treasuryId },
      ika: {
        ikaDwallet2pcMpcOriginalPackage: ikaConfig!.ikaDwallet2pcMpcOriginalPackage,
        ikaDwalletCoordinator: { objectId: ikaConfig!.ikaDwalletCoordinator!.objectId },
      },
    });
    const found = await recovery.findDWallets({ seed });
    expect(found.dwallets).toMatchObject([
      { dwalletId: made.dwallet.id, curve: "SECP256K1", state: "Active" },
    ]);
    const share = await recovery.recoverShare({ seed, curve: "SECP256K1", dwalletId: made.dwallet.id });
    expect(share.userSecretKeyShareHex).toBe(made.userSecretKeyShareHex);
    // The project has it already. The owner's consent and the proof of the share are made all the same.
    await expect(
      client.adoptDWallet({ seed, curve: "SECP256K1", dwalletId: made.dwallet.id }),
    ).resolves.toMatchObject({ publicKeyHex: made.publicKeyHex });
  });

  it("is shared with a user who names its public key, and recovered from pieces without the owner's seed", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const [seed, bob] = [1, 2].map(() => new Uint8Array(randomBytes(32))) as [Uint8Array, Uint8Array];
    const client = newClient();
    const curve = "ED25519";
    const made = await client.importKey({ seed, curve, privateKey: rawSeed(privateKey) });
    const owned = { seed, curve, dwalletId: made.dwallet.id } as const;
    const recipient = await client.registerRecipient({ seed: bob, curve });
    const { publicKeyHex } = await client.shareWith({ ...owned, recipient });
    expect(publicKeyHex).toBe(
      Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url").toString("hex"),
    );
    const held = { ...owned, seed: bob };
    await expect(client.acceptShare(held)).rejects.toMatchObject({ metadata: { field: "publicKeyHex" } });
    await expect(client.acceptShare({ ...held, publicKeyHex: "ab".repeat(32) })).rejects.toMatchObject({
      reason: "OUTPUT_MISMATCH",
    });
    await client.acceptShare({ ...held, publicKeyHex });
    const message = Buffer.from("a transaction");
    const algorithm = { signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;
    const { signature } = await newClient().sign({
      ...held,
      ...algorithm,
      message,
      acceptUnverifiedShare: true,
    });
    expect(verify(null, message, publicKey, signature)).toBe(true);

    const { pieces } = await addRecovery(client, { ...owned, threshold: 2, count: 3 });
    const joined = await joinPieces(pieces.slice(1));
    const source = { ...owned, seed: joined.seed, acceptUnverifiedShare: true };
    const recovered = await newClient().recoverShare(source);
    expect(recovered.userSecretKeyShareHex).toBe(made.userSecretKeyShareHex);
  });

  it("of Solana signs as its own public key, with presigns of the pool", {
    timeout: TIMEOUT_MS,
  }, async () => {
    const { privateKey, publicKey } = generateKeyPairSync("ed25519");
    const seed = rawSeed(privateKey);
    const user = await theUser();
    const request = await importRequest(user, ed25519Scalar(seed));
    const { dwalletId } = (await call("POST", "/v1/dwallets", request)) as { dwalletId: string };
    const waiting = await dwalletIn(dwalletId, "AwaitingKeyHolderSignature");
    expect(fromBase64(waiting["publicKey"])).toEqual(
      new Uint8Array(Buffer.from(publicKey.export({ format: "jwk" }).x!, "base64url")),
    );
    await call("POST", `/v1/dwallets/${dwalletId}/accept`, {
      encryptedUserSecretKeyShareId: waiting["encryptedUserSecretKeyShareId"]!,
      userOutputSignature: base64(signDWalletOutput(user.keys, fromBase64(waiting["publicOutput"]))),
    });
    await dwalletIn(dwalletId, "Active");
    const message = Buffer.from("a transaction");
    const signature = await signature65(user, dwalletId, findTriple("ED25519", "EdDSA", "SHA512")!, message);
    expect(verify(null, message, publicKey, signature)).toBe(true);
  });

  it("is refused by its field without a transaction if its message has another form", async () => {
    const request = await toRefuse();
    const refused = async (change: Json) => {
      const reply = await post("/v1/dwallets", { ...request, ...change });
      return `${reply.status} ${JSON.stringify(await reply.json())}`;
    };
    expect(await refused({ userDkgMessage: base64(new Uint8Array(1_331)) })).toMatch(
      /^400 .*user_dkg_message/,
    );
    expect(await refused({ userPublicOutput: base64(new Uint8Array(99)) })).toMatch(
      /^400 .*user_public_output/,
    );
    expect(await refused({ kind: "dkg" })).toMatch(/^400 .*user_dkg_message/);
  });

  it("whose proofs do not hold is refunded", { timeout: TIMEOUT_MS }, async () => {
    const before = await balance();
    const request = await toRefuse();
    const message = fromBase64(request["userDkgMessage"]);
    // The response of the first proof, after the version, the length and the mask.
    message[3 + 32]! ^= 1;
    const { dwalletId } = (await call("POST", "/v1/dwallets", {
      ...request,
      userDkgMessage: base64(message),
    })) as { dwalletId: string };
    await dwalletIn(dwalletId, "NetworkRejectedDKGVerification");
    const { ledgerEntries } = (await call("GET", "/v1/billing/ledger-entries?page_size=2")) as unknown as {
      ledgerEntries: Json[];
    };
    expect(ledgerEntries.map(({ amountMicroUsd }) => BigInt(amountMicroUsd!))).toEqual([
      IMPORT_PRICE,
      -IMPORT_PRICE,
    ]);
    expect(await balance()).toBe(before);
  });
});

/** The user of the calls that the tests make themselves. */
const theUser = once(() => newUser("ED25519"));
/** A whole request that no test sends unchanged. */
const toRefuse = once(async () => importRequest({ ...(await theUser()) }, ed25519Scalar(randomBytes(32))));

/** Makes something at the first call. */
function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => (made ??= make());
}

interface User {
  readonly curve: "ED25519";
  readonly keys: UserKeys;
  readonly parameters: Uint8Array;
  readonly encryptionKeyId: string;
  /** The user's share, once the key is split. */
  share: Uint8Array;
}

async function newUser(curve: User["curve"]): Promise<User> {
  const parameters = await downloadParameters(service.access.baseUrl, curve);
  const keys = await engine.deriveUserKeys({ curve, seed: new Uint8Array(randomBytes(32)) });
  const { encryptionKeyId } = (await call("POST", "/v1/encryption-keys", {
    curve,
    encryptionKey: base64(keys.encryptionKey),
    signature: base64(signEncryptionKey(keys)),
    signerPublicKey: base64(keys.signerPublicKey),
  })) as { encryptionKeyId: string };
  return { curve, keys, parameters, encryptionKeyId, share: new Uint8Array() };
}

/** Splits the key, and returns what CreateDWallet takes. */
async function importRequest(user: User, secret: Uint8Array): Promise<Json> {
  const { curve, keys, parameters, encryptionKeyId } = user;
  const network = await call("GET", "/v1/network");
  const senderAddress = String(network["senderAddresses"]?.[0]);
  const sessionIdentifier = new Uint8Array(randomBytes(32));
  const sessionDigest = sessionIdentifierDigest(sessionIdentifier, senderAddress);
  const [share, output, message] = IkaWasm.create_imported_dwallet_centralized_step(
    ED25519_NUMBER,
    parameters,
    sessionDigest,
    secret,
  ) as [Uint8Array, Uint8Array, Uint8Array];
  user.share = Uint8Array.from(share);
  const wasm = await loadIkaWasm();
  return {
    encryptionKeyId,
    curve,
    kind: "imported_key",
    networkEncryptionKeyId: network["networkEncryptionKeyId"]!,
    senderAddress,
    sessionIdentifier: base64(sessionIdentifier),
    userDkgMessage: base64(Uint8Array.from(message)),
    encryptedUserShareAndProof: base64(wasm.encryptShare(curve, user.share, keys.encryptionKey, parameters)),
    userPublicOutput: base64(Uint8Array.from(output)),
    signerPublicKey: base64(keys.signerPublicKey),
  };
}

/** Signs. At night, the service is killed after the reservation and after the submission. */
async function signature65(
  user: User,
  dwalletId: string,
  triple: AlgorithmTriple,
  message: Uint8Array,
): Promise<Uint8Array> {
  const key = { "idempotency-key": randomBytes(16).toString("hex") };
  const reserve = {
    dwalletId,
    signatureAlgorithm: triple.signatureAlgorithm,
    hashScheme: triple.hash,
    message: base64(message),
  };
  const reserved = await madeTwice(() => call("POST", "/v1/sign", reserve, key));
  const wasm = await loadIkaWasm();
  const userSignMessage = wasm.createSignMessage(
    triple,
    user.parameters,
    fromBase64(reserved["dwalletPublicOutput"]),
    user.share,
    fromBase64(reserved["presign"]),
    message,
  );
  const path = `/v1/sign/${reserved["signRequestId"]}`;
  await madeTwice(() => call("POST", `${path}/submit`, { userSignMessage: base64(userSignMessage) }));
  const ended = await pollUntil(
    async () => {
      const found = await call("GET", path);
      if (found["status"] === "failed") throw new Error(JSON.stringify(found));
      return found["status"] === "completed" && found;
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  );
  return fromBase64(ended["signature"]);
}

function newClient(): TssClient {
  const { baseUrl, apiKey } = service.access;
  return createClient({ baseUrl, apiKey, network: "localnet" });
}

/** Runs an action until the service is killed at a stage, and restarts the service. Returns the action's token. */
async function tokenOfCrashed(
  stage: string,
  begin: (options: ActionOptions<string>) => Promise<unknown>,
): Promise<string> {
  const giveUp = new AbortController();
  const error = await begin({
    signal: giveUp.signal,
    onProgress(begun) {
      if (begun === stage) void service.crash().then(() => giveUp.abort());
    },
  }).catch((cause: unknown) => cause);
  if (!(error instanceof TssError) || error.resumeToken === undefined)
    throw new Error("the action was not interrupted", { cause: error });
  service = await startService(folder, ENVIRONMENT);
  return error.resumeToken;
}

/**
 * Makes a call, and makes it again. At night, the service is killed before anyone reads the first reply. By day,
 * resume.test.ts and service-crash.test.ts kill it.
 */
async function madeTwice(make: () => Promise<Json>): Promise<Json> {
  const first = await make();
  if (environment.isReference) {
    await service.crash();
    service = await startService(folder, ENVIRONMENT);
  }
  const again = await make();
  for (const name of ["dwalletId", "signRequestId"]) expect(again[name]).toEqual(first[name]);
  return again;
}

async function dwalletIn(dwalletId: string, state: string): Promise<Json> {
  return pollUntil(
    async () => {
      const found = await call("GET", `/v1/dwallets/${dwalletId}`);
      return found["state"] === state && found;
    },
    { timeoutMs: 60_000, intervalMs: 100 },
  );
}

async function balance(): Promise<bigint> {
  return BigInt((await call("GET", "/v1/billing/balance"))["balanceMicroUsd"] ?? "0");
}

async function call(
  method: string,
  path: string,
  body?: Json,
  headers: Record<string, string> = {},
): Promise<Json> {
  const reply =
    method === "GET"
      ? await fetch(service.access.baseUrl + path, { headers: authorized() })
      : await post(path, body ?? {}, headers);
  const json = (await reply.json()) as Json;
  if (reply.status !== 200) throw new Error(`${path}: ${reply.status} ${JSON.stringify(json)}`);
  return json;
}

function post(path: string, body: Json, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(service.access.baseUrl + path, {
    method: "POST",
    headers: { ...authorized(), "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
}

const authorized = () => ({ authorization: `Bearer ${service.access.apiKey}` });

/** The 32 bytes of an Ed25519 private key. */
function rawSeed(privateKey: KeyObject): Uint8Array {
  return Buffer.from(privateKey.export({ format: "jwk" }).d!, "base64url");
}

/** The secret scalar of an Ed25519 seed (RFC 8032, 5.1.5), below the order, in little-endian. */
function ed25519Scalar(seed: Uint8Array): Uint8Array {
  const bytes = createHash("sha512").update(seed).digest().subarray(0, 32);
  bytes[0]! &= 248;
  bytes[31] = (bytes[31]! & 127) | 64;
  const scalar = BigInt(`0x${Buffer.from(bytes).reverse().toString("hex")}`) % ED25519_ORDER;
  return new Uint8Array(Buffer.from(scalar.toString(16).padStart(64, "0"), "hex").reverse());
}

const ED25519_ORDER = 2n ** 252n + 27742317777372353535851937790883648493n;

const ED25519_NUMBER = 2;
