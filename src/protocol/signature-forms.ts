import { concatBytes } from "@noble/hashes/utils.js";
import type { SignatureAlgorithmName } from "./algorithms.ts";
import { MalformedBytesError } from "./bytes.ts";

/** How long this service's signatures are. */
export function signatureLength(signatureAlgorithm: SignatureAlgorithmName): 64 | 65 {
  return isEcdsa(signatureAlgorithm) ? 65 : 64;
}

/**
 * The signature as this service returns it, from `SignSession.Completed.signature`: the chain writes ECDSA as
 * v | r | s (which the Ika SDK's parser cuts to r | s), this service as r | s | v; the others are 64 bytes as they are.
 * Throws MalformedBytesError for another length, or a recovery id above 3.
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

/** True for the two ECDSA algorithms. */
export function isEcdsa(signatureAlgorithm: SignatureAlgorithmName): boolean {
  return signatureAlgorithm === "ECDSASecp256k1" || signatureAlgorithm === "ECDSASecp256r1";
}
