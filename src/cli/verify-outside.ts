import { createHash, createPublicKey, verify } from "node:crypto";
import type { AlgorithmTriple } from "../protocol/algorithms.ts";

/**
 * Verifies a signature with a library that neither the service nor the client signs or verifies with: OpenSSL for
 * Ed25519 and P-256, libsecp256k1 (tiny-secp256k1) for ECDSA and Schnorr on secp256k1, and Polkadot's own for
 * Schnorrkel. For secp256k1 the key is also recovered from r, s and v. These libraries are for development only and
 * are loaded when they are needed.
 */
export async function verifyOutside({
  triple,
  publicKey,
  message,
  signature,
}: OutsideClaim): Promise<boolean> {
  switch (triple.signatureAlgorithm) {
    case "ECDSASecp256k1": {
      const secp = await import("tiny-secp256k1");
      const digest = await digestOf(triple, message);
      const compact = signature.subarray(0, 64);
      const recovered = secp.recover(digest, compact, recoveryId(signature), true);
      const isSame = recovered !== null && Buffer.from(recovered).equals(publicKey);
      return isSame && secp.verify(digest, publicKey, compact, true);
    }
    case "Taproot": {
      const secp = await import("tiny-secp256k1");
      return secp.verifySchnorr(sha256(message), publicKey.subarray(1), signature);
    }
    case "ECDSASecp256r1": {
      const key = openSslKey(P256_SPKI_PREFIX, publicKey);
      return verify("sha256", message, { key, dsaEncoding: "ieee-p1363" }, signature.subarray(0, 64));
    }
    case "EdDSA":
      return verify(null, message, openSslKey(ED25519_SPKI_PREFIX, publicKey), signature);
    case "Schnorrkel": {
      const { sr25519Verify } = await import("@polkadot/util-crypto");
      return sr25519Verify(message, signature, publicKey);
    }
  }
}

/** A signature with its message and key. */
export interface OutsideClaim {
  readonly triple: AlgorithmTriple;
  readonly publicKey: Uint8Array;
  readonly message: Uint8Array;
  readonly signature: Uint8Array;
}

async function digestOf({ hash }: AlgorithmTriple, message: Uint8Array): Promise<Uint8Array> {
  if (hash === "KECCAK256") {
    const { getBytes, keccak256 } = await import("ethers");
    return getBytes(keccak256(message));
  }
  return hash === "DoubleSHA256" ? sha256(sha256(message)) : sha256(message);
}

function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function recoveryId(signature: Uint8Array): 0 | 1 | 2 | 3 {
  const id = signature[64];
  if (id === 0 || id === 1 || id === 2 || id === 3) return id;
  throw new Error("the signature has no recovery id");
}

function openSslKey(spkiPrefixHex: string, publicKey: Uint8Array): ReturnType<typeof createPublicKey> {
  const key = Buffer.concat([Buffer.from(spkiPrefixHex, "hex"), publicKey]);
  return createPublicKey({ key, format: "der", type: "spki" });
}

/** SubjectPublicKeyInfo up to the key: id-Ed25519 (RFC 8410). */
const ED25519_SPKI_PREFIX = "302a300506032b6570032100";
/** SubjectPublicKeyInfo up to a compressed point: id-ecPublicKey, prime256v1 (RFC 5480). */
const P256_SPKI_PREFIX = "3039301306072a8648ce3d020106082a8648ce3d030107032200";
