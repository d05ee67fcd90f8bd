import { CURVES, type CurveName, curveNumber } from "../../protocol/algorithms.ts";
import { bigIntFromLittleEndian, byteReader, equalBytes } from "../../protocol/bytes.ts";
import type { Steps } from "../../protocol/chain/read-errors.ts";
import { formToScalar } from "../../protocol/class-groups/class-group.ts";
import { powerForm } from "../../protocol/class-groups/exponentiation.ts";
import { composeForms, invertForm } from "../../protocol/class-groups/forms.ts";
import {
  decodeUserShare,
  encodeUserShare,
  parseDWalletOutput,
  userPublicOutputFromDWalletOutput,
} from "../../protocol/dwallet-output.ts";
import {
  type CurveArithmetic,
  curveByNumber,
  decodePoint,
  pointBytes,
  scaleBase,
} from "../../protocol/proofs/curve.ts";
import { decodeEncryptedShare, verifyEncryptedShare } from "../../protocol/proofs/encrypted-share.ts";
import { encodeUserPublicOutput } from "../../protocol/proofs/network-key-parts.ts";
import { rejectionReason, rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import { EngineError } from "./engine.ts";
import { knownNetworkKey } from "./known-network-key.ts";

/**
 * Decrypts the share and returns it as 00 | vec(scalar). First verifies its proof under the public half of the key. The
 * share must be the discrete logarithm of the dWallet's X_A. Takes about 0.12 s. Throws
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

/**
 * Returns whether a dWallet's public output follows from the user's share and the network key. Computes the user's
 * public output again from the share and the network key in the parameters, with the randomisers of the dWallet's
 * output, and compares all of it. So the result covers both X_A and X_B: an attacker that could choose X_B could choose
 * X = X_A + X_B as its own key. Takes a few milliseconds. Throws EngineError for malformed bytes. Never reveals the
 * share.
 *
 * X_B of an imported key follows from nothing. So the caller must give the whole public key, from the private key or from
 * another proof that the user has accepted it: X_A must be the share's, and X this key. Without it, and for a DKG's output
 * with it, the result is false.
 */
export function isOutputOfShare(
  curveName: CurveName,
  parameters: Uint8Array,
  userSecretKeyShare: Uint8Array,
  dwalletOutput: Uint8Array,
  importedPublicKey?: Uint8Array,
): boolean {
  const curve = curveByNumber(curveNumber(curveName));
  try {
    const { derivation, userPublicShare, publicKey } = parseDWalletOutput(curveName, dwalletOutput);
    const publicShare = scaleBase(curve, decodeUserShare(curveName, userSecretKeyShare));
    if (derivation === undefined) {
      if (importedPublicKey === undefined || !equalBytes(publicKey, importedPublicKey)) return false;
      return equalBytes(userPublicShare.toBytes(), pointBytes(publicShare));
    }
    if (importedPublicKey !== undefined) return false;
    const key = knownNetworkKey(curve, parameters);
    const own = encodeUserPublicOutput(curve, publicShare, derivation.randomizers, key);
    return equalBytes(own, userPublicOutputFromDWalletOutput(curveName, dwalletOutput));
  } catch (error) {
    const reason = rejectionReason(error);
    throw reason === undefined ? error : new EngineError(reason);
  }
}
