import { p256 } from "@noble/curves/nist.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import type { HashName, SignatureAlgorithmName } from "../algorithms.ts";
import { bigIntFromLittleEndian, equalBytes } from "../bytes.ts";
import { curveGroup } from "./curve-group.ts";
import { createTranscript } from "./merlin.ts";
import { verifyEd25519 } from "./verify-ed25519.ts";

/**
 * Returns whether the signature has the form that this service promises: valid under the dWallet's public key, of the
 * right length, and for ECDSA with low s and a recovery id that recovers this key. Returns false for malformed input
 * and for a hash that does not belong to the algorithm. Never throws.
 */
export function verifySignature(claim: SignatureClaim): boolean {
  try {
    switch (claim.signatureAlgorithm) {
      case "ECDSASecp256k1":
        return verifyEcdsa(secp256k1, claim);
      case "ECDSASecp256r1":
        return claim.hash === "SHA256" && verifyEcdsa(p256, claim);
      case "Taproot":
        return claim.hash === "SHA256" && verifyTaproot(claim);
      case "EdDSA":
        return claim.hash === "SHA512" && verifyEdDsa(claim);
      case "Schnorrkel":
        return claim.hash === "Merlin" && verifySchnorrkel(claim.publicKey, claim.message, claim.signature);
    }
  } catch {
    return false;
  }
}

/** A signature in this service's form, with the key and the message that it claims to sign. */
export interface SignatureClaim {
  readonly signatureAlgorithm: SignatureAlgorithmName;
  readonly hash: HashName;
  /** The dWallet's public key: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKey: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
  /** ECDSA: 65 bytes r, s, v with low s. Others: 64 bytes. */
  readonly signature: Uint8Array;
}

function verifyEcdsa(
  curve: typeof secp256k1,
  { hash, publicKey, message, signature }: SignatureClaim,
): boolean {
  const recoveryId = signature[64];
  if (signature.length !== 65 || recoveryId === undefined || recoveryId > 3) return false;
  const digest = messageDigest(hash, message);
  const compact = signature.subarray(0, 64);
  if (curve.Signature.fromBytes(compact).hasHighS()) return false;
  // A signature verifies under the key recovered from it, so this one equation is both checks (SEC 1, 4.1.6).
  // noble expects the recovery id in front.
  const recovered = curve.recoverPublicKey(Uint8Array.of(recoveryId, ...compact), digest, { prehash: false });
  return equalBytes(recovered, publicKey);
}

/** Verifies BIP-340 over the SHA-256 of the message, under the x coordinate of the dWallet's key. */
function verifyTaproot({ publicKey, message, signature }: SignatureClaim): boolean {
  if (signature.length !== 64 || publicKey.length !== 33) return false;
  return schnorr.verify(signature, messageDigest("SHA256", message), publicKey.subarray(1));
}

function verifyEdDsa({ publicKey, message, signature }: SignatureClaim): boolean {
  return signature.length === 64 && verifyEd25519(publicKey, message, signature);
}

/**
 * Returns whether `signature` is an sr25519 signature over `message` under the context "substrate" (schnorrkel 0.11,
 * `sign.rs`: s*G = R + c*A with c from a Merlin transcript). The highest bit of the last byte marks the format and must
 * be set. Returns false for malformed input and never throws.
 */
function verifySchnorrkel(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  if (signature.length !== 64 || (signature[63]! & 0x80) === 0) return false;
  const scalarBytes = signature.slice(32);
  scalarBytes[31]! &= 0x7f;
  try {
    const s = RISTRETTO.decodeScalar(scalarBytes);
    const r = RISTRETTO.decodePoint(signature.subarray(0, 32));
    const a = RISTRETTO.decodePoint(publicKey);
    const c = schnorrkelChallenge(publicKey, signature.subarray(0, 32), message);
    return RISTRETTO.base.multiplyUnsafe(s).equals(r.add(a.multiplyUnsafe(c)));
  } catch {
    return false;
  }
}

/** The signing context of Substrate chains. */
const SIGNING_CONTEXT = "substrate";

/**
 * Returns the challenge of schnorrkel's signing transcript, as a scalar. `publicKey` and `nonce` are compressed points.
 */
export function schnorrkelChallenge(publicKey: Uint8Array, nonce: Uint8Array, message: Uint8Array): bigint {
  const wide = createTranscript("SigningContext")
    .append("", SIGNING_CONTEXT)
    .append("sign-bytes", message)
    .append("proto-name", "Schnorr-sig")
    .append("sign:pk", publicKey)
    .append("sign:R", nonce)
    .challenge("sign:c", 64);
  return bigIntFromLittleEndian(wide) % RISTRETTO.order;
}

const RISTRETTO = curveGroup("RISTRETTO");

/**
 * Returns the 32-byte digest that ECDSA and Taproot sign. Throws a RangeError for SHA512 and Merlin: EdDSA and
 * Schnorrkel use them to hash the message together with the nonce and the key.
 */
export function messageDigest(hash: HashName, message: Uint8Array): Uint8Array {
  switch (hash) {
    case "KECCAK256":
      return keccak_256(message);
    case "SHA256":
      return sha256(message);
    case "DoubleSHA256":
      return sha256(sha256(message));
    case "SHA512":
    case "Merlin":
      throw new RangeError(`${hash} has no digest of the message alone`);
  }
}
