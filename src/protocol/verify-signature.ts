import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { schnorr, secp256k1 } from "@noble/curves/secp256k1.js";
import type { HashName, SignatureAlgorithmName } from "./algorithms.ts";
import { equalBytes } from "./bytes.ts";
import { messageDigest } from "./message-digest.ts";
import { verifySchnorrkel } from "./verify-schnorrkel.ts";

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
  if (signature.length !== 64) return false;
  // RFC 8032 as most verifiers read it, not the laxer ZIP 215.
  return ed25519.verify(signature, message, publicKey, { zip215: false });
}
