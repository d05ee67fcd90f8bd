import { decodeEncryptionKey } from "../../protocol/class-groups/keypair.ts";
import { type CurveArithmetic, type CurvePoint, readScalar, scaleBase } from "../../protocol/proofs/curve.ts";
import { decodeEncryptedShare, verifyEncryptedShare } from "../../protocol/proofs/encrypted-share.ts";
import { openVersion0 } from "../../protocol/proofs/message-parts.ts";
import { rejectUnless } from "../../protocol/proofs/rejected-input.ts";
import type { EncryptedUserShare } from "./engine.ts";

/** Checks that the share is the discrete logarithm of `publicShare`, and encrypted under the encryption key. */
export function checkEncryptedShare(
  curve: CurveArithmetic,
  publicShare: CurvePoint,
  { encryptedShareAndProof, encryptionKey }: EncryptedUserShare,
): void {
  const key = decodeEncryptionKey(curve.group, encryptionKey);
  verifyEncryptedShare(curve, key, publicShare, decodeEncryptedShare(curve, encryptedShareAndProof));
}

/** Checks that a share in the SDK's form, 00 | vec(scalar), is the discrete logarithm of `publicShare`. */
export function checkPublicShare(
  curve: CurveArithmetic,
  publicShare: CurvePoint,
  publicUserShare: Uint8Array,
): void {
  const reader = openVersion0(publicUserShare, "public user share");
  const share = readScalar(curve, reader, "public user share");
  reader.end();
  rejectUnless(scaleBase(curve, share).equals(publicShare), "public user share is not the dWallet's");
}
