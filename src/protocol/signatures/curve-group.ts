import { ed25519, ristretto255 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import type { CurveName } from "../algorithms.ts";
import {
  type ByteReader,
  bigIntFromBigEndian,
  bigIntFromLittleEndian,
  MalformedBytesError,
} from "../bytes.ts";

/** Returns the prime-order group of a curve. */
export function curveGroup(curve: CurveName): CurveGroup {
  return GROUPS[curve];
}

/** A point of any of the four groups. */
export interface GroupPoint {
  add(other: GroupPoint): GroupPoint;
  negate(): GroupPoint;
  equals(other: GroupPoint): boolean;
  /** Variable time: for public scalars only. Accepts 0. */
  multiplyUnsafe(scalar: bigint): GroupPoint;
  /** As constant-time as noble is. The scalar must be between 1 and the order minus one. */
  multiply(scalar: bigint): GroupPoint;
  /** Compressed. */
  toBytes(): Uint8Array;
  /** Affine coordinates. For Ristretto they belong to an arbitrary representative and mean nothing. */
  toAffine(): { readonly x: bigint; readonly y: bigint };
}

/** A curve's prime-order group with the encodings that the protocol's BCS uses. */
export interface CurveGroup {
  readonly curve: CurveName;
  readonly order: bigint;
  readonly base: GroupPoint;
  readonly zero: GroupPoint;
  /** Length of a compressed point: 33 for the secp curves, else 32. */
  readonly pointBytes: number;
  /** True for the two secp curves: points and scalars carry a length in BCS, and scalars are big-endian. */
  readonly isSecp: boolean;
  /** Decodes a compressed point. Throws MalformedBytesError. */
  decodePoint(bytes: Uint8Array): GroupPoint;
  /** Decodes a scalar of 32 bytes, which must be below the order. Throws MalformedBytesError. */
  decodeScalar(bytes: Uint8Array): bigint;
  /** Reads a point in its BCS encoding. */
  readPoint(reader: ByteReader): GroupPoint;
  /** Reads a scalar in its BCS encoding. */
  readScalar(reader: ByteReader): bigint;
}

/** The common interface of noble's four point classes. */
interface PointClass {
  readonly BASE: GroupPoint;
  readonly ZERO: GroupPoint;
  readonly Fn: { readonly ORDER: bigint };
  fromBytes(bytes: Uint8Array): GroupPoint;
}

function group(curve: CurveName, points: unknown, isSecp: boolean): CurveGroup {
  // noble's point classes accept only their own kind as an operand. Mixing curves throws there.
  const { BASE, ZERO, Fn, fromBytes } = adopt(points);
  const pointBytes = isSecp ? 33 : 32;
  const decodePoint = (bytes: Uint8Array): GroupPoint => {
    if (bytes.length !== pointBytes) throw new MalformedBytesError(`a point has ${pointBytes} bytes`);
    try {
      return fromBytes(bytes);
    } catch {
      throw new MalformedBytesError(`not a point of ${curve}`);
    }
  };
  const decodeScalar = (bytes: Uint8Array): bigint => {
    if (bytes.length !== 32) throw new MalformedBytesError("a scalar has 32 bytes");
    const scalar = isSecp ? bigIntFromBigEndian(bytes) : bigIntFromLittleEndian(bytes);
    if (scalar >= Fn.ORDER) throw new MalformedBytesError("a scalar is not below the order");
    return scalar;
  };
  return {
    curve,
    order: Fn.ORDER,
    base: BASE,
    zero: ZERO,
    pointBytes,
    isSecp,
    decodePoint,
    decodeScalar,
    readPoint: (reader) => decodePoint(isSecp ? reader.vector(33) : reader.take(32)),
    readScalar: (reader) => decodeScalar(isSecp ? reader.vector(32) : reader.take(32)),
  };
}

function adopt(points: unknown): PointClass {
  const known = points as PointClass;
  return { BASE: known.BASE, ZERO: known.ZERO, Fn: known.Fn, fromBytes: (bytes) => known.fromBytes(bytes) };
}

const GROUPS: Readonly<Record<CurveName, CurveGroup>> = {
  SECP256K1: group("SECP256K1", secp256k1.Point, true),
  SECP256R1: group("SECP256R1", p256.Point, true),
  ED25519: group("ED25519", ed25519.Point, false),
  RISTRETTO: group("RISTRETTO", ristretto255.Point, false),
};
