import { createHash, createPublicKey, verify } from "node:crypto";
import { sr25519Verify } from "@polkadot/util-crypto";
import { computeAddress, getBytes, keccak256, recoverAddress } from "ethers";
import { recover, verifySchnorr, verify as verifySecp } from "tiny-secp256k1";
import type { HashName, SignatureAlgorithmName } from "../../../src/protocol/algorithms.ts";

/** A signature, and the key and message that it claims. */
export interface SignatureClaim {
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly hash: HashName;
  /** The dWallet's public key: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKey: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
  /** 65 bytes r, s, v for ECDSA, else 64. */
  readonly signature: Uint8Array;
}

/** The verifier of each algorithm: a library with which neither this project nor the Ika SDK signs or verifies. */
export const SIGNATURE_VERIFIERS: Readonly<
  Record<SignatureAlgorithmName, (claim: SignatureClaim) => boolean>
> = {
  ECDSASecp256k1: verifyEcdsaSecp256k1,
  Taproot: verifyTaproot,
  ECDSASecp256r1: verifyEcdsaSecp256r1,
  EdDSA: verifyEdDsa,
  Schnorrkel: verifySchnorrkel,
};

/** Whether the outside library of the claim's algorithm accepts the signature. */
export function isValidSignature(claim: SignatureClaim): boolean {
  return SIGNATURE_VERIFIERS[claim.signatureAlgorithm](claim);
}

/**
 * libsecp256k1: the signature is valid, s is low, and r, s, v recover exactly this key. For Keccak-256 ethers must also
 * recover the key's address.
 */
export function verifyEcdsaSecp256k1({ hash, publicKey, message, signature }: SignatureClaim): boolean {
  const v = signature[64];
  if (signature.length !== 65 || (v !== 0 && v !== 1 && v !== 2 && v !== 3)) return false;
  const digest = digestOf(hash, message);
  const compact = signature.subarray(0, 64);
  const recovered = recover(digest, compact, v, true);
  if (recovered === null || !Buffer.from(recovered).equals(publicKey)) return false;
  if (hash === "KECCAK256") {
    const [r, s] = [hex(compact.subarray(0, 32)), hex(compact.subarray(32))];
    if (recoverAddress(digest, { r, s, v: v + 27 }) !== computeAddress(hex(publicKey))) return false;
  }
  return verifySecp(digest, publicKey, compact, true);
}

/** libsecp256k1: BIP-340 over the SHA-256 of the message. */
export function verifyTaproot({ publicKey, message, signature }: SignatureClaim): boolean {
  return signature.length === 64 && verifySchnorr(sha256(message), publicKey.subarray(1), signature);
}

/** OpenSSL, with s in the lower half of the order. */
export function verifyEcdsaSecp256r1({ publicKey, message, signature }: SignatureClaim): boolean {
  if (signature.length !== 65 || signature[64]! > 3) return false;
  if (BigInt(hex(signature.subarray(32, 64))) > P256_ORDER / 2n) return false;
  const key = openSslKey("3039301306072a8648ce3d020106082a8648ce3d030107032200", publicKey);
  return verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature.subarray(0, 64));
}

/** OpenSSL. */
export function verifyEdDsa({ publicKey, message, signature }: SignatureClaim): boolean {
  return verify(null, message, openSslKey("302a300506032b6570032100", publicKey), signature);
}

/** Polkadot's library, under the context "substrate". */
export function verifySchnorrkel({ publicKey, message, signature }: SignatureClaim): boolean {
  return signature.length === 64 && sr25519Verify(message, signature, publicKey);
}

function digestOf(hash: HashName, message: Uint8Array): Uint8Array {
  if (hash === "KECCAK256") return getBytes(keccak256(message));
  return hash === "DoubleSHA256" ? sha256(sha256(message)) : sha256(message);
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function openSslKey(spkiPrefixHex: string, publicKey: Uint8Array): ReturnType<typeof createPublicKey> {
  const key = Buffer.concat([Buffer.from(spkiPrefixHex, "hex"), publicKey]);
  return createPublicKey({ key, format: "der", type: "spki" });
}

function hex(bytes: Uint8Array): string {
  return `0x${Buffer.from(bytes).toString("hex")}`;
}

const P256_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
