import { concatBytes } from "@noble/hashes/utils.js";
import type { CurveName } from "./algorithms.ts";
import {
  bigIntFromLittleEndian,
  bigIntToLittleEndian,
  byteReader,
  encodeVector,
  MalformedBytesError,
} from "./bytes.ts";
import { curveGroup, type GroupPoint } from "./signatures/curve-group.ts";

/** The network's public output of a DKG or of an imported key: `DWallet.state.public_output`. */
export interface DWalletOutput {
  readonly curve: CurveName;
  /** The dWallet's public key, compressed: 33 bytes for the secp curves, else 32. */
  readonly publicKey: Uint8Array;
  /** X = X_A + X_B as a point. */
  readonly publicKeyPoint: GroupPoint;
  /** X_A, the public half of the user's share. */
  readonly userPublicShare: GroupPoint;
  /** X_B, the public half of the network's share. */
  readonly networkPublicShare: GroupPoint;
  /** How the network's share follows from the network key. Undefined for an imported key, whose owner has chosen it. */
  readonly derivation: ShareDerivation | undefined;
}

/** How the network's share of a DKG follows from the network key. */
export interface ShareDerivation {
  /** mu_0, mu_1 and mu_G, which randomise the network's share. */
  readonly randomizers: readonly [bigint, bigint, bigint];
  /** The commitment to the network key's parts, 32 bytes. */
  readonly commitment: Uint8Array;
}

/**
 * Reads version 2 of the output: 01 | vec(public key) | vec(01 | X_B | X | ct_B | X_A | mu_0 mu_1 mu_G | commitment),
 * 788 bytes on the secp curves and 781 on the others. That of an imported key is
 * 01 | vec(public key) | vec(00 | X_B | X | ct_B | X_A). Throws MalformedBytesError, also if X is not X_A + X_B.
 */
export function parseDWalletOutput(curve: CurveName, output: Uint8Array): DWalletOutput {
  const { readPoint, decodePoint } = curveGroup(curve);
  const outer = byteReader(output, "dWallet output");
  if (outer.uint8() !== 1) throw new MalformedBytesError("dWallet output: only version 2 is known");
  // A copy, so that changing the result does not change the output.
  const publicKey = outer.vector().slice();
  const body = byteReader(outer.vector(), "dWallet output");
  outer.end();
  const kind = body.uint8();
  if (kind !== DERIVED && kind !== TARGETED)
    throw new MalformedBytesError("dWallet output: unknown kind of body");
  const networkPublicShare = readPoint(body);
  const publicKeyPoint = readPoint(body);
  for (let form = 0; form < 2; form++) body.vector(FORM_BYTES);
  const userPublicShare = readPoint(body);
  const derivation = kind === DERIVED ? readDerivation() : undefined;
  body.end();
  if (!decodePoint(publicKey).equals(publicKeyPoint)) {
    throw new MalformedBytesError("dWallet output: the public key differs from the output's");
  }
  if (!userPublicShare.add(networkPublicShare).equals(publicKeyPoint)) {
    throw new MalformedBytesError("dWallet output: the public shares do not add up to the public key");
  }
  return { curve, publicKey, publicKeyPoint, userPublicShare, networkPublicShare, derivation };

  function readDerivation(): ShareDerivation {
    const randomizers = [readNumber(), readNumber(), readNumber()] as const;
    return { randomizers, commitment: body.vector(32).slice() };
  }

  function readNumber(): bigint {
    return bigIntFromLittleEndian(body.vector(32));
  }
}

/** The kind of an output whose network share follows from the network key. */
const DERIVED = 1;
/** The kind of an output whose network share is encrypted by itself: that of an imported key. */
const TARGETED = 0;

/** Reads the dWallet's public key from its public output: 33 bytes compressed for the secp curves, else 32. */
export function publicKeyFromDWalletOutput(curve: CurveName, output: Uint8Array): Uint8Array {
  return parseDWalletOutput(curve, output).publicKey;
}

/**
 * Rebuilds the public output of the user's half of the DKG from the network's output:
 * 01 | vec(01 | X_A | X | X_B | mu_0 mu_1 mu_G | commitment), 238 or 232 bytes, or of an imported key
 * 01 | vec(00 | X_A | X | X_B), 105 or 99 bytes. Throws MalformedBytesError.
 */
export function userPublicOutputFromDWalletOutput(curve: CurveName, output: Uint8Array): Uint8Array {
  parseDWalletOutput(curve, output);
  const outer = byteReader(output.subarray(1), "dWallet output");
  outer.vector();
  const body = byteReader(outer.vector(), "dWallet output");
  const pointBytes = curveGroup(curve).isSecp ? 34 : 32;
  const kind = body.uint8();
  const networkShare = body.take(pointBytes);
  const publicKey = body.take(pointBytes);
  for (let form = 0; form < 2; form++) body.vector(FORM_BYTES);
  const userShare = body.take(pointBytes);
  const rest = body.take(body.remaining);
  const userBody = concatBytes(Uint8Array.of(kind), userShare, publicKey, networkShare, rest);
  return concatBytes(Uint8Array.of(1), encodeVector(userBody));
}

/** Reads the dWallet's public key from the user's public output: 33 bytes compressed for the secp curves, else 32. */
export function publicKeyFromUserOutput(curve: CurveName, userPublicOutput: Uint8Array): Uint8Array {
  const { readPoint } = curveGroup(curve);
  const outer = byteReader(userPublicOutput, "user public output");
  if (outer.uint8() !== 1) throw new MalformedBytesError("user public output: only version 2 is known");
  const body = byteReader(outer.vector(), "user public output");
  outer.end();
  if (![DERIVED, TARGETED].includes(body.uint8()))
    throw new MalformedBytesError("user public output: unknown kind of body");
  readPoint(body);
  return readPoint(body).toBytes();
}

const FORM_BYTES = 256;

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
