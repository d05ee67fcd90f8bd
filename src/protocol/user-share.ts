import type { CurveName } from "./algorithms.ts";
import { byteReader } from "./byte-reader.ts";
import { bigIntToLittleEndian, MalformedBytesError } from "./bytes.ts";
import { curveGroup } from "./curve-group.ts";

/**
 * Decodes the scalar x_A of a user's secret share, 00 | vec(scalar): between 1 and the curve's order minus one. Throws
 * MalformedBytesError, which never contains the bytes.
 */
export function decodeUserShare(curve: CurveName, userSecretKeyShare: Uint8Array): bigint {
  const outer = byteReader(userSecretKeyShare, "user secret key share");
  if (outer.uint8() !== 0) throw new MalformedBytesError("user secret key share: unknown version");
  const inner = byteReader(outer.vector(), "user secret key share");
  outer.end();
  const share = curveGroup(curve).readScalar(inner);
  inner.end();
  if (share === 0n) throw new MalformedBytesError("user secret key share: zero");
  return share;
}

/** Encodes a share for {@link decodeUserShare}, into one buffer that the caller can overwrite. */
export function encodeUserShare(curve: CurveName, scalar: bigint): Uint8Array {
  const bytes = bigIntToLittleEndian(scalar, 32);
  const { isSecp } = curveGroup(curve);
  const header = isSecp ? [0, 33, 32] : [0, 32];
  const share = new Uint8Array(header.length + bytes.length);
  share.set(header);
  share.set(isSecp ? bytes.reverse() : bytes, header.length);
  bytes.fill(0);
  return share;
}
