import { encodeScalar } from "../../protocol/class-groups/class-group.ts";
import { multiPower } from "../../protocol/class-groups/exponentiation.ts";
import { composeForms, type Form, type FormGroup } from "../../protocol/class-groups/forms.ts";
import { decodeEncryptionKey } from "../../protocol/class-groups/keypair.ts";
import {
  ciphertextGroupJson,
  ciphertextJson,
  encryptionSchemeJson,
  languageGroupsJson,
  pointGroupJson,
  RANDOMNESS_SPACE,
  scalarGroupJson,
} from "../../protocol/proofs/canonical-parameters.ts";
import { type Curve, type CurvePoint, pointJson, scale, scaleBase } from "../../protocol/proofs/curve.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { proofChallenge, transcript } from "../../protocol/proofs/transcript.ts";
import { equalCiphertexts } from "./ciphertext.ts";
import { decodeEncryptedShare, type EncryptedShareAndProof } from "./dkg-message.ts";

/**
 * Checks that a share was encrypted under `encryptionKeyBytes` and is the logarithm of `publicShare`: a Maurer proof
 * for the language (Enc(x; r), x*G) over the class group and the curve. Throws a verdict otherwise.
 */
export function verifyEncryptedShare(
  curve: Curve,
  encryptionKeyBytes: Uint8Array,
  publicShare: CurvePoint,
  encryptedShareAndProof: Uint8Array,
): void {
  const encryptionKey = decodeEncryptionKey(curve.group, encryptionKeyBytes);
  const message = decodeEncryptedShare(curve, encryptedShareAndProof);
  const challenge = challengeOf(curve, encryptionKey, publicShare, message);
  const { maskCiphertext, maskPoint, scalarResponse, randomnessResponse, ciphertext } = message;

  const expected = maskPoint.add(scale(curve, publicShare, challenge));
  rejectUnless(
    scaleBase(curve, scalarResponse).equals(expected),
    "encrypted share proof: share is not the DKG's",
  );

  // Enc(z; rho) / ct^e must be the first message. Every term shares one run of squarings.
  const { group } = curve;
  const opened = (base: Form, part: 0 | 1) =>
    quotient(group, base, randomnessResponse, ciphertext[part], challenge);
  const recovered = [
    opened(group.h, 0),
    composeForms(group, encodeScalar(group, scalarResponse), opened(encryptionKey, 1)),
  ] as const;
  rejectUnless(
    equalCiphertexts(recovered, maskCiphertext),
    "encrypted share proof: ciphertext does not match",
  );
}

/** base^exponent / divisor^weight. */
function quotient(group: FormGroup, base: Form, exponent: bigint, divisor: Form, weight: bigint): Form {
  return multiPower(group, [
    { base, exponent },
    { base: divisor, exponent: -weight },
  ]);
}

function challengeOf(
  curve: Curve,
  encryptionKey: Form,
  publicShare: CurvePoint,
  { maskCiphertext, maskPoint, ciphertext }: EncryptedShareAndProof,
): bigint {
  const proof = transcript("Encryption of Discrete Log");
  proof.appendJson("protocol context", null);
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
