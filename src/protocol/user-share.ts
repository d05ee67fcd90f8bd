import type { CurveName } from "./algorithms.ts";
import { byteReader } from "./byte-reader.ts";
import { MalformedBytesError } from "./bytes.ts";
import { curveGroup } from "./curve-group.ts";
import { parseDWalletOutput } from "./dwallet-output.ts";

/**
 * True if the user's secret share is the one behind the dWallet's public output: share * G = X_A.
 * The share is 00 | vec(scalar). Throws MalformedBytesError, which never carries the bytes.
 */
export function userShareFitsOutput(
  curve: CurveName,
  userSecretKeyShare: Uint8Array,
  dwalletOutput: Uint8Array,
): boolean {
  const group = curveGroup(curve);
  const outer = byteReader(userSecretKeyShare, "user secret key share");
  if (outer.uint8() !== 0) throw new MalformedBytesError("user secret key share: unknown version");
  const inner = byteReader(outer.vector(), "user secret key share");
  outer.end();
  const share = group.readScalar(inner);
  inner.end();
  if (share === 0n) throw new MalformedBytesError("user secret key share: zero");
  return group.base.multiply(share).equals(parseDWalletOutput(curve, dwalletOutput).userPublicShare);
}
