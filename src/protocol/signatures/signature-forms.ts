import { concatBytes } from "@noble/hashes/utils.js";
import type { SignatureAlgorithmName } from "../algorithms.ts";
import { MalformedBytesError } from "../bytes.ts";

/** Returns the length in bytes of a signature of this service. */
export function signatureLength(signatureAlgorithm: SignatureAlgorithmName): 64 | 65 {
  return isEcdsa(signatureAlgorithm) ? 65 : 64;
}

/**
 * Converts `SignSession.Completed.signature` to the form that this service returns. The chain stores ECDSA signatures
 * as v | r | s (the Ika SDK's parser cuts them to r | s); this service returns r | s | v. Other signatures have 64
 * bytes and stay unchanged. Throws MalformedBytesError for another length or a recovery id above 3.
 */
export function signatureFromChain(
  signatureAlgorithm: SignatureAlgorithmName,
  signature: Uint8Array,
): Uint8Array {
  const length = signatureLength(signatureAlgorithm);
  if (signature.length !== length) {
    throw new MalformedBytesError(
      `${signatureAlgorithm} signature: ${length} bytes, not ${signature.length}`,
    );
  }
  if (length === 64) return signature.slice();
  const recoveryId = signature[0]!;
  if (recoveryId > 3) throw new MalformedBytesError(`${signatureAlgorithm} signature: recovery id above 3`);
  return concatBytes(signature.subarray(1), Uint8Array.of(recoveryId));
}

/** Returns whether the algorithm is one of the two ECDSA algorithms. */
export function isEcdsa(signatureAlgorithm: SignatureAlgorithmName): boolean {
  return signatureAlgorithm === "ECDSASecp256k1" || signatureAlgorithm === "ECDSASecp256r1";
}
