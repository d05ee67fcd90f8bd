/** Signatures that the local fullnode verifies, made by the Sui SDK's keys. */
import { bcs } from "@mysten/sui/bcs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { PasskeyKeypair } from "@mysten/sui/keypairs/passkey";
import { Secp256k1Keypair } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1Keypair } from "@mysten/sui/keypairs/secp256r1";
import { MultiSigPublicKey } from "@mysten/sui/multisig";
import { Transaction } from "@mysten/sui/transactions";
import { fromBase64, toBase64 } from "@mysten/sui/utils";
import { p256 } from "@noble/curves/nist.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type Harness, hotWallet, startHarness } from "../harness.ts";

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness();
});
afterAll(() => harness.close());

const text = new TextEncoder().encode("a message");
const personal = { name: "PersonalMessage", value: bcs.byteVector().serialize(text).toBytes() };

async function verify(message: { name: string; value: Uint8Array }, signature: string, address?: string) {
  const { response } = await harness.client.signatureVerificationService.verifySignature({
    message,
    signature: { bcs: { value: fromBase64(signature) }, signature: { oneofKind: undefined } },
    jwks: [],
    ...(address !== undefined && { address }),
  });
  return response;
}

const keys = [new Ed25519Keypair(), new Secp256k1Keypair(), new Secp256r1Keypair()];

it.each(keys)("a message is valid with the signature of its signer, and of nobody else: %#", async (key) => {
  const { signature } = await key.signPersonalMessage(text);
  expect(await verify(personal, signature, key.toSuiAddress())).toEqual({ isValid: true });
  expect(await verify(personal, signature)).toEqual({ isValid: true });
  const other = await verify(personal, signature, hotWallet.toSuiAddress());
  expect(other.isValid).toBe(false);
  expect(other.reason).toContain(key.toSuiAddress());
  const changed = { ...personal, value: bcs.byteVector().serialize([1]).toBytes() };
  expect(await verify(changed, signature)).toMatchObject({ isValid: false });
});

it("a multisig is valid once its threshold is reached", async () => {
  const publicKeys = keys.map((key) => ({ publicKey: key.getPublicKey(), weight: 1 }));
  const multisig = MultiSigPublicKey.fromPublicKeys({ threshold: 2, publicKeys });
  const parts = await Promise.all(keys.map(async (key) => (await key.signPersonalMessage(text)).signature));
  const address = multisig.toSuiAddress();
  expect(await verify(personal, multisig.combinePartialSignatures(parts.slice(0, 2)), address)).toEqual({
    isValid: true,
  });
  const one = await verify(personal, multisig.combinePartialSignatures(parts.slice(0, 1)), address);
  expect(one.isValid).toBe(false);
});

/** A passkey as a browser has it: it signs its own data and the client's, which contains the challenge. */
function createPasskey(changeClientData = (text: string) => text) {
  const secretKey = p256.utils.randomSecretKey();
  const get = async (challenge: Uint8Array) => {
    const authenticatorData = new Uint8Array(37).fill(7);
    const encoded = Buffer.from(challenge).toString("base64url");
    const text = JSON.stringify({
      type: "webauthn.get",
      challenge: encoded,
      origin: "https://wallet.example",
    });
    const clientDataJSON = new TextEncoder().encode(changeClientData(text));
    const signed = concatBytes(authenticatorData, sha256(clientDataJSON));
    const signature = p256.sign(signed, secretKey, { format: "der" });
    return { response: { authenticatorData, clientDataJSON, signature } } as never;
  };
  return new PasskeyKeypair(p256.getPublicKey(secretKey), { get, create: get } as never);
}

it("a passkey's signature is valid for its message, and neither for another one nor with other client data", async () => {
  const passkey = createPasskey();
  const address = passkey.toSuiAddress();
  const { signature } = await passkey.signPersonalMessage(text);
  expect(await verify(personal, signature, address)).toEqual({ isValid: true });
  const changed = { ...personal, value: bcs.byteVector().serialize([1]).toBytes() };
  expect(await verify(changed, signature, address)).toMatchObject({ isValid: false });
  expect(await verify(personal, signature, hotWallet.toSuiAddress())).toMatchObject({ isValid: false });
  const foreign = createPasskey((data) => data.replace(/"challenge":"./, '"challenge":"_'));
  const { signature: wrong } = await foreign.signPersonalMessage(text);
  expect(await verify(personal, wrong, foreign.toSuiAddress())).toMatchObject({ isValid: false });
});

it("a transaction is verified as one, not as a personal message", async () => {
  const tx = new Transaction();
  tx.setSender(hotWallet.toSuiAddress());
  const value = await tx.build({ client: harness.client });
  const { signature } = await hotWallet.signTransaction(value);
  const message = { name: "TransactionData", value };
  expect(await verify(message, signature, hotWallet.toSuiAddress())).toEqual({ isValid: true });
  const spoken = { name: "PersonalMessage", value: bcs.byteVector().serialize(value).toBytes() };
  expect(await verify(spoken, signature)).toMatchObject({ isValid: false });
});

it("the SDK's check of a zkLogin signature gets an answer for every other scheme too", async () => {
  const { signature } = await hotWallet.signPersonalMessage(text);
  const answer = await harness.client.core.verifyZkLoginSignature({
    bytes: toBase64(text),
    signature,
    intentScope: "PersonalMessage",
    address: hotWallet.toSuiAddress(),
  });
  expect(answer).toEqual({ success: true, errors: [] });
});

it("malformed messages, types, signatures and addresses are refused", async () => {
  const { signature } = await hotWallet.signPersonalMessage(text);
  const refused = { code: "INVALID_ARGUMENT" };
  await expect(verify({ ...personal, name: "Other" }, signature)).rejects.toMatchObject(refused);
  await expect(verify({ name: "TransactionData", value: text }, signature)).rejects.toMatchObject(refused);
  await expect(verify(personal, "")).rejects.toMatchObject(refused);
  await expect(verify(personal, "/w==")).rejects.toMatchObject(refused);
  await expect(verify(personal, signature, "no address")).rejects.toMatchObject(refused);
});
