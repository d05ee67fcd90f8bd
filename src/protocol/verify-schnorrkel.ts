import { bigIntFromLittleEndian } from "./bytes.ts";
import { curveGroup } from "./curve-group.ts";
import { createTranscript } from "./merlin.ts";

/**
 * Returns whether `signature` is an sr25519 signature over `message` under the context "substrate" (schnorrkel 0.11,
 * `sign.rs`: s*G = R + c*A with c from a Merlin transcript). The highest bit of the last byte marks the format and must
 * be set. Returns false for malformed input and never throws.
 */
export function verifySchnorrkel(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
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
