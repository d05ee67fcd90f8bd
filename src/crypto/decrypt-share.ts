import { CURVES } from "../protocol/algorithms.ts";
import { byteReader } from "../protocol/byte-reader.ts";
import { bigIntFromLittleEndian } from "../protocol/bytes.ts";
import { formToScalar } from "../protocol/class-groups/class-group.ts";
import { powerForm } from "../protocol/class-groups/exponentiation.ts";
import { composeForms, invertForm } from "../protocol/class-groups/forms.ts";
import { parseDWalletOutput } from "../protocol/dwallet-output.ts";
import { type CurveArithmetic, decodePoint, scaleBase } from "../protocol/proofs/curve.ts";
import { decodeEncryptedShare, verifyEncryptedShare } from "../protocol/proofs/encrypted-share.ts";
import { rejectUnless } from "../protocol/proofs/rejected-input.ts";
import type { Steps } from "../protocol/steps.ts";
import { encodeUserShare } from "../protocol/user-share.ts";

/**
 * Decrypts the share and returns it as 00 | vec(scalar). First verifies its proof under the public half of the key. The
 * share must be the discrete logarithm of the dWallet's X_A. Takes about a third of a second. Throws
 * MalformedBytesError, InvalidFormError or RejectedInput.
 */
export function* decryptShare(
  curve: CurveArithmetic,
  decryptionKey: Uint8Array,
  dwalletOutput: Uint8Array,
  encryptedShareAndProof: Uint8Array,
): Steps<Uint8Array> {
  const { group } = curve;
  const reader = byteReader(decryptionKey, "decryption key");
  const exponent = bigIntFromLittleEndian(reader.vector(192));
  reader.end();
  const name = CURVES[curve.constants.curve]!;
  const dwallet = parseDWalletOutput(name, dwalletOutput);
  const publicShare = decodePoint(curve, dwallet.userPublicShare.toBytes(), "user's public share");
  const encrypted = decodeEncryptedShare(curve, encryptedShareAndProof);
  const encryptionKey = powerForm(group, group.h, exponent);
  yield;
  verifyEncryptedShare(curve, encryptionKey, publicShare, encrypted);
  yield;
  const [randomizer, masked] = encrypted.ciphertext;
  const mask = powerForm(group, randomizer, exponent);
  const share = formToScalar(group, composeForms(group, masked, invertForm(mask)));
  rejectUnless(scaleBase(curve, share).equals(publicShare), "the share does not belong to the dWallet");
  return encodeUserShare(name, share);
}
