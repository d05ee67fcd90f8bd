import { type ByteReader, bigIntToLittleEndian, encodeVector } from "../bytes.ts";
import { isSquare, scalarToForm } from "../class-groups/class-group.ts";
import { multiPower } from "../class-groups/exponentiation.ts";
import { composeForms, type Form } from "../class-groups/forms.ts";
import type { OrderGroup } from "../class-groups/maximal-order.ts";
import type { Ciphertext } from "../parameters/network-key-output.ts";
import {
  ciphertextGroupJson,
  ciphertextJson,
  encryptionSchemeJson,
  languageGroupsJson,
  pointGroupJson,
  RANDOMNESS_SPACE,
  scalarGroupJson,
} from "./canonical-parameters.ts";
import {
  type CurveArithmetic,
  type CurvePoint,
  encodePoint,
  encodeScalar,
  pointJson,
  readPoint,
  readScalar,
  scale,
  scaleBase,
} from "./curve.ts";
import type { ProofContext } from "./dkg-transcripts.ts";
import {
  encodeCiphertext,
  encodeVersion0,
  equalCiphertexts,
  openVersion0,
  readCiphertext,
  readRandomnessResponse,
} from "./message-parts.ts";
import { rejectUnless } from "./rejected-input.ts";
import { proofChallenge, transcript } from "./transcript.ts";

/** Decodes a versioned encrypted share with its proof. Throws RejectedInput if it is malformed. */
export function decodeEncryptedShare(curve: CurveArithmetic, bytes: Uint8Array): EncryptedShareAndProof {
  const reader = openVersion0(bytes, "encrypted user share");
  const message = readEncryptedShare(curve, reader);
  reader.end();
  return message;
}

/** Reads an encrypted share with its proof inside a message. */
export function readEncryptedShare(curve: CurveArithmetic, reader: ByteReader): EncryptedShareAndProof {
  return {
    maskCiphertext: readCiphertext(curve, reader),
    maskPoint: readPoint(curve, reader, "encrypted share proof's mask"),
    scalarResponse: readScalar(curve, reader, "encrypted share proof's response"),
    randomnessResponse: readRandomnessResponse(reader),
    ciphertext: readCiphertext(curve, reader),
  };
}

/** The user's share encrypted to the user, with the proof that it is the discrete logarithm of the public share. */
export interface EncryptedShareAndProof {
  readonly maskCiphertext: Ciphertext;
  readonly maskPoint: CurvePoint;
  readonly scalarResponse: bigint;
  readonly randomnessResponse: bigint;
  readonly ciphertext: Ciphertext;
}

/** Encodes a share for {@link decodeEncryptedShare}: 1,296 bytes on the secp curves, else 1,293. */
export function encodeEncryptedShare(curve: CurveArithmetic, message: EncryptedShareAndProof): Uint8Array {
  return encodeVersion0(
    encodeCiphertext(message.maskCiphertext),
    encodePoint(curve, message.maskPoint),
    encodeScalar(curve, message.scalarResponse),
    encodeVector(bigIntToLittleEndian(message.randomnessResponse, 192)),
    encodeCiphertext(message.ciphertext),
  );
}

/**
 * Verifies that a share is encrypted under `encryptionKey` and is the discrete logarithm of `publicShare`: a Maurer
 * proof for the language (Enc(x; r), x*G) over the class group and the curve. `context` is the proof's place in the
 * protocol; the share that a user encrypts to a registered key has none. Throws RejectedInput otherwise.
 */
export function verifyEncryptedShare(
  curve: CurveArithmetic,
  encryptionKey: Form,
  publicShare: CurvePoint,
  message: EncryptedShareAndProof,
  context: ProofContext | null = null,
): void {
  const challenge = encryptedShareChallenge(curve, encryptionKey, publicShare, message, context);
  const { maskCiphertext, maskPoint, scalarResponse, randomnessResponse, ciphertext } = message;
  const { group } = curve;
  // A factor of order two vanishes under an even challenge, and then nobody can decrypt the share.
  rejectUnless(
    ciphertext.every((form) => isSquare(group, form)),
    "encrypted share proof: ciphertext is not a square",
  );

  const expected = maskPoint.add(scale(curve, publicShare, challenge));
  rejectUnless(
    scaleBase(curve, scalarResponse).equals(expected),
    "encrypted share proof: share is not the DKG's",
  );

  // Enc(z; rho) / ct^e must be the first message. Every term shares one run of squarings.
  const opened = (base: Form, part: 0 | 1) =>
    quotient(group, base, randomnessResponse, ciphertext[part], challenge);
  const recovered = [
    opened(group.h, 0),
    composeForms(group, scalarToForm(group, scalarResponse), opened(encryptionKey, 1)),
  ] as const;
  rejectUnless(
    equalCiphertexts(recovered, maskCiphertext),
    "encrypted share proof: ciphertext does not match",
  );
}

/** Returns base^exponent / divisor^weight. */
function quotient(group: OrderGroup, base: Form, exponent: bigint, divisor: Form, weight: bigint): Form {
  return multiPower(group, [
    { base, exponent },
    { base: divisor, exponent: -weight },
  ]);
}

/** Returns the proof's challenge, which binds the key, the statement and the first message. */
export function encryptedShareChallenge(
  curve: CurveArithmetic,
  encryptionKey: Form,
  publicShare: CurvePoint,
  {
    maskCiphertext,
    maskPoint,
    ciphertext,
  }: Pick<EncryptedShareAndProof, "maskCiphertext" | "maskPoint" | "ciphertext">,
  context: ProofContext | null = null,
): bigint {
  const proof = transcript("Encryption of Discrete Log");
  proof.appendJson("protocol context", context);
  proof.appendJson("language public parameters", {
    canonical_groups_public_parameters: languageGroupsJson(
      [scalarGroupJson(curve), RANDOMNESS_SPACE],
      [ciphertextGroupJson(curve), pointGroupJson(curve)],
    ),
    canonical_encryption_scheme_public_parameters: encryptionSchemeJson(curve, encryptionKey),
    base: pointJson(curve, curve.base),
    discrete_log_sample_bits: null,
  });
  proof.appendJson("statement value", [ciphertextJson(ciphertext), pointJson(curve, publicShare)]);
  proof.appendJson("statement mask value", [ciphertextJson(maskCiphertext), pointJson(curve, maskPoint)]);
  return proofChallenge(proof);
}
