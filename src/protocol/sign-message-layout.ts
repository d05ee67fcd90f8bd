import type { CurveName, SignatureAlgorithmName } from "./algorithms.ts";
import { byteReader } from "./byte-reader.ts";
import { MalformedBytesError } from "./bytes.ts";
import { curveGroup, type GroupPoint } from "./curve-group.ts";
import { isEcdsa } from "./signature-forms.ts";

/** The user's half of a Schnorr-family signature. */
export interface PartialSignature {
  /** K_A, the user's public nonce. */
  readonly nonce: GroupPoint;
  /** z_A. */
  readonly response: bigint;
}

/**
 * Checks the layout of a user's sign message without its proofs: version, lengths, points on the curve, and the vectors
 * of the leading ciphertexts.
 * ECDSA: 00 | vec(R | R_B | C_k | C_alpha | C_beta | C_kx | ct_A | ct_ab | eight proofs), 7,144 bytes.
 * Schnorr family: 00 | vec(K_A | z_A), 69 bytes for Taproot, else 66. Throws MalformedBytesError.
 */
export function checkSignMessageLayout(
  curve: CurveName,
  signatureAlgorithm: SignatureAlgorithmName,
  userSignMessage: Uint8Array,
): void {
  if (!isEcdsa(signatureAlgorithm)) {
    parsePartialSignature(curve, userSignMessage);
    return;
  }
  if (userSignMessage.length !== ECDSA_MESSAGE_BYTES) {
    throw new MalformedBytesError(
      `user sign message: ${ECDSA_MESSAGE_BYTES} bytes, not ${userSignMessage.length}`,
    );
  }
  const body = byteReader(openMessage(userSignMessage), "user sign message");
  const { readPoint } = curveGroup(curve);
  for (let point = 0; point < 6; point++) readPoint(body);
  for (let form = 0; form < 4; form++) body.vector(FORM_BYTES);
}

/** Reads the user's half of a Schnorr-family signature. Throws MalformedBytesError. */
export function parsePartialSignature(curve: CurveName, userSignMessage: Uint8Array): PartialSignature {
  const { readPoint, readScalar } = curveGroup(curve);
  const body = byteReader(openMessage(userSignMessage), "user sign message");
  const nonce = readPoint(body);
  const response = readScalar(body);
  body.end();
  return { nonce, response };
}

function openMessage(userSignMessage: Uint8Array): Uint8Array {
  const outer = byteReader(userSignMessage, "user sign message");
  if (outer.uint8() !== 0) throw new MalformedBytesError("user sign message: unknown version");
  const body = outer.vector();
  outer.end();
  return body;
}

const ECDSA_MESSAGE_BYTES = 7144;
const FORM_BYTES = 256;
