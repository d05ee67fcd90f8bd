import { readFileSync } from "node:fs";
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { bytesToHex } from "@noble/hashes/utils.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { EngineError } from "../../../../src/client/crypto/engine.ts";
import {
  deriveEd25519SecretKey,
  deriveUserKeys,
  signDWalletOutput,
  signEncryptionKey,
} from "../../../../src/client/crypto/user-keys.ts";
import type { CurveName } from "../../../../src/protocol/algorithms.ts";
import { hexToBytes } from "../../../../src/protocol/bytes.ts";
import { verifyEdDsa } from "../../../support/crypto/signature-verifiers.ts";

/**
 * Recorded from `UserShareEncryptionKeys.fromRootSeedKey` of @ika.xyz/sdk 0.4.1; `npm run test:reference` computes it
 * again.
 */
const vectors = JSON.parse(readFileSync(new URL("./user-keys.vectors.json", import.meta.url), "utf8")) as {
  curve: CurveName;
  seedHex: string;
  encryptionKeyHex: string;
  decryptionKeyHex: string;
  signerPublicKeyHex: string;
  signerAddress: string;
  encryptionKeySignatureHex: string;
}[];

describe.each(vectors)("on $curve", (vector) => {
  test("keys, signer and signature equal the Ika SDK's", () => {
    const keys = deriveUserKeys(hexToBytes(vector.seedHex), vector.curve);
    expect({
      curve: keys.curve,
      seedHex: vector.seedHex,
      encryptionKeyHex: bytesToHex(keys.encryptionKey),
      decryptionKeyHex: bytesToHex(keys.decryptionKey.reveal()),
      signerPublicKeyHex: bytesToHex(keys.signerPublicKey),
      signerAddress: keys.signerAddress,
      encryptionKeySignatureHex: bytesToHex(signEncryptionKey(keys)),
    }).toEqual(vector);
  });
});

test("the signature over an output verifies under the signer", () => {
  const keys = deriveUserKeys(new Uint8Array(32).fill(3), "ED25519");
  const message = new TextEncoder().encode("an output");
  const signature = signDWalletOutput(keys, message);
  const { signerPublicKey: publicKey } = keys;
  expect(verifyEdDsa({ signatureAlgorithm: "EdDSA", hash: "SHA512", publicKey, message, signature })).toBe(
    true,
  );
});

test("destroyed keys are zero and refuse to sign, and the seed does not change", () => {
  const seed = new Uint8Array(32).fill(3);
  const keys = deriveUserKeys(seed, "SECP256K1");
  const secrets = [keys.decryptionKey.reveal(), keys.signerSecretKey.reveal()];
  keys.destroy();
  for (const secret of secrets) expect(secret.every((byte) => byte === 0)).toBe(true);
  expect(() => signEncryptionKey(keys)).toThrow("destroyed");
  expect(seed).toEqual(new Uint8Array(32).fill(3));
});

test("a seed of 31 bytes is refused, and the error shows only its length", () => {
  expect(() => deriveUserKeys(new Uint8Array(31), "ED25519")).toThrow(EngineError);
  expect(() => deriveUserKeys(new Uint8Array(31), "ED25519")).toThrow("seed: 32 bytes, not 31");
});

test("the signer's derivation equals Sui's for every seed", () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: 32, maxLength: 32 }), (seed) => {
      const keypair = Ed25519Keypair.fromSecretKey(deriveEd25519SecretKey(seed, [44, 784, 0, 0, 0]));
      const sui = Ed25519Keypair.deriveKeypairFromSeed(bytesToHex(seed));
      expect(keypair.toSuiAddress()).toBe(sui.toSuiAddress());
    }),
    { numRuns: 20 },
  );
});
