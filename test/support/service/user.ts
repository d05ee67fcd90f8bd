import { createHash, randomBytes } from "node:crypto";
import type { JsonValue } from "@bufbuild/protobuf";
import { deriveUserShare } from "../../../src/client/crypto/derive-user-share.ts";
import type { CryptoEngine, UserKeys } from "../../../src/client/crypto/engine.ts";
import { SecretBytes } from "../../../src/client/crypto/secret-bytes.ts";
import { signDWalletOutput, signEncryptionKey } from "../../../src/client/crypto/user-keys.ts";
import type { AlgorithmTriple } from "../../../src/protocol/algorithms.ts";
import { sessionIdentifierDigest } from "../../../src/protocol/chain/session-identifier.ts";
import { pollUntil } from "../poll-until.ts";
import type { ProtocolClient } from "./protocol-clients.ts";

/** A test's dWallet with the user's share. */
export interface TestDWallet {
  readonly id: string;
  readonly publicKey: Uint8Array;
  readonly shareHex: string;
}

/** The common steps of a user. The cryptography is the same over every protocol. */
export interface UserSteps {
  readonly engine: CryptoEngine;
  readonly parameters: Uint8Array;
  readonly triple: AlgorithmTriple;
}

/** Downloads the protocol parameters of a curve over REST, once the service has built them. */
export async function downloadParameters(baseUrl: string, curve: string): Promise<Uint8Array> {
  const { sha256 } = await pollUntil(async () => {
    const network = (await (await fetch(`${baseUrl}/v1/network`)).json()) as {
      protocolParameters: { curve: string; sha256: string; sizeBytes: string }[];
    };
    return network.protocolParameters.find((p) => p.curve === curve);
  }, PATIENCE);
  const reply = await fetch(`${baseUrl}/v1/protocol-parameters/${sha256}`);
  const bytes = new Uint8Array(await reply.arrayBuffer());
  if (createHash("sha256").update(bytes).digest("hex") !== sha256) throw new Error("digest differs");
  return bytes;
}

/** Registers a key, makes a dWallet and accepts its share, call by call over one protocol. */
export async function onboardOver(
  protocolClient: ProtocolClient,
  steps: UserSteps,
  seed: Uint8Array,
): Promise<TestDWallet> {
  const { engine, parameters, triple } = steps;
  using keys: UserKeys = await engine.deriveUserKeys({ curve: triple.curve, seed });
  const network = await protocolClient.call("GetNetwork", {});
  const senderAddress = (network["senderAddresses"] as string[])[0]!;
  const key = await protocolClient.call("RegisterEncryptionKey", {
    curve: triple.curve,
    encryptionKey: base64(keys.encryptionKey),
    signature: base64(signEncryptionKey(keys)),
    signerPublicKey: base64(keys.signerPublicKey),
  });
  const sessionIdentifier = new Uint8Array(randomBytes(32));
  const sessionDigest = sessionIdentifierDigest(sessionIdentifier, senderAddress);
  const networkEncryptionKeyId = String(network["networkEncryptionKeyId"]);
  const { curve } = triple;
  using share = deriveUserShare({ seed, curve, networkEncryptionKeyId, sessionDigest });
  const dkg = await engine.prepareDkg({
    curve,
    userSecretKeyShare: share,
    sessionDigest,
    parameters,
    encryptionKey: keys.encryptionKey,
  });
  const created = await protocolClient.call("CreateDWallet", {
    encryptionKeyId: key["encryptionKeyId"]!,
    curve: triple.curve,
    networkEncryptionKeyId: network["networkEncryptionKeyId"]!,
    senderAddress,
    sessionIdentifier: base64(sessionIdentifier),
    userDkgMessage: base64(dkg.userDkgMessage),
    encryptedUserShareAndProof: base64(dkg.encryptedUserShareAndProof),
    userPublicOutput: base64(dkg.userPublicOutput),
    signerPublicKey: base64(keys.signerPublicKey),
  });
  const id = String(created["dwalletId"]);
  const waiting = await dwalletIn(protocolClient, id, "AwaitingKeyHolderSignature");
  await protocolClient.call("AcceptDWallet", {
    dwalletId: id,
    encryptedUserSecretKeyShareId: waiting["encryptedUserSecretKeyShareId"]!,
    userOutputSignature: base64(signDWalletOutput(keys, fromBase64(waiting["publicOutput"]))),
  });
  const active = await dwalletIn(protocolClient, id, "Active");
  return { id, publicKey: fromBase64(active["publicKey"]), shareHex: hex(share) };
}

/** Reserves a presign. Returns the reply of the service. */
export function reserveOver(
  protocolClient: ProtocolClient,
  triple: AlgorithmTriple,
  dwallet: TestDWallet,
  message: Uint8Array,
): Promise<Record<string, JsonValue>> {
  return protocolClient.call("ReserveSign", {
    dwalletId: dwallet.id,
    signatureAlgorithm: triple.signatureAlgorithm,
    hashScheme: triple.hash,
    message: base64(message),
  });
}

/** Computes the user's half for a reservation and submits it. */
export async function submitOver(
  protocolClient: ProtocolClient,
  steps: UserSteps,
  dwallet: TestDWallet,
  reserved: Record<string, JsonValue>,
  message: Uint8Array,
): Promise<Record<string, JsonValue>> {
  const userSignMessage = await steps.engine.createSignMessage({
    triple: steps.triple,
    parameters: steps.parameters,
    dwalletOutput: fromBase64(reserved["dwalletPublicOutput"]),
    userSecretKeyShare: new SecretBytes(Buffer.from(dwallet.shareHex, "hex")),
    presign: fromBase64(reserved["presign"]),
    message,
  });
  return protocolClient.call("SubmitSign", {
    signRequestId: reserved["signRequestId"]!,
    userSignMessage: base64(userSignMessage),
  });
}

/** Reads a dWallet until it is in this state. */
export function dwalletIn(
  protocolClient: ProtocolClient,
  dwalletId: JsonValue,
  state: string,
): Promise<Record<string, JsonValue>> {
  return until(protocolClient, { dwalletId }, "GetDWallet", "state", [state]);
}

/** Reads a sign request until it is final. */
export function signEnd(
  protocolClient: ProtocolClient,
  signRequestId: JsonValue,
): Promise<Record<string, JsonValue>> {
  return until(protocolClient, { signRequestId }, "GetSign", "status", ["completed", "failed"]);
}

/** Base64 of bytes, as protobuf JSON requires it. */
export const base64 = (bytes: Uint8Array): string => Buffer.from(bytes).toString("base64");

/** The bytes of a protobuf JSON bytes field. */
export const fromBase64 = (value: JsonValue | undefined): Uint8Array =>
  new Uint8Array(Buffer.from(String(value), "base64"));

const hex = (secret: SecretBytes): string => Buffer.from(secret.reveal()).toString("hex");

/** Polls like a client. */
async function until(
  protocolClient: ProtocolClient,
  request: Record<string, JsonValue>,
  method: "GetDWallet" | "GetSign",
  field: "state" | "status",
  wanted: readonly string[],
): Promise<Record<string, JsonValue>> {
  return pollUntil(async () => {
    const reply = await protocolClient.call(method, request);
    const state = String(reply[field]);
    if (wanted.includes(state)) return reply;
    if (state.startsWith("NetworkRejected") || state === "failed")
      throw new Error(`ended as ${JSON.stringify(reply)}`);
    return undefined;
  }, PATIENCE);
}

/** Tables of real parameters take minutes. */
const PATIENCE = { timeoutMs: 600_000, intervalMs: 100 };
