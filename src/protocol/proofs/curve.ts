import { ed25519, ristretto255 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import {
  type ByteReader,
  bigIntFromBigEndian,
  bigIntFromLittleEndian,
  bigIntToBigEndian,
  bigIntToLittleEndian,
  encodeVector,
} from "../bytes.ts";
import { type ClassGroup, classGroupOfCurve } from "../class-groups/class-group.ts";
import { floorMod } from "../class-groups/integers.ts";
import { type CurveConstants, curveConstants } from "../parameters/curve-constants.ts";
import { RejectedInput, rejectUnless } from "./rejected-input.ts";

/** A point of a prime-order group, as noble implements it. */
export interface CurvePoint {
  add(other: CurvePoint): CurvePoint;
  double(): CurvePoint;
  negate(): CurvePoint;
  equals(other: CurvePoint): boolean;
  /** For 1 <= scalar < order. */
  multiply(scalar: bigint): CurvePoint;
  /** For 0 <= scalar < order. */
  multiplyUnsafe(scalar: bigint): CurvePoint;
  isTorsionFree(): boolean;
  /** Makes the point cache a table for its multiplications. The first multiplication builds the table. */
  precompute(windowSize: number): CurvePoint;
  toBytes(compressed?: boolean): Uint8Array;
  toAffine(): { readonly x: bigint; readonly y: bigint };
}

/** A curve with its arithmetic and the class group that encrypts its scalars. */
export interface CurveArithmetic {
  readonly constants: CurveConstants;
  readonly order: bigint;
  readonly group: ClassGroup;
  readonly base: CurvePoint;
  readonly zero: CurvePoint;
  readonly decode: (bytes: Uint8Array) => CurvePoint;
}

/**
 * Returns the curve of a chain number (0 SECP256K1, 1 SECP256R1, 2 ED25519, 3 RISTRETTO). Rejects an unknown number.
 */
export function curveByNumber(number: number): CurveArithmetic {
  const curve = CURVES[number];
  rejectUnless(curve !== undefined, `unknown curve ${number}`);
  return curve;
}

/** Returns scalar * base point. */
export function scaleBase(curve: CurveArithmetic, scalar: bigint): CurvePoint {
  const reduced = floorMod(scalar, curve.order);
  return reduced === 0n ? curve.zero : curve.base.multiply(reduced);
}

/** Returns scalar * point. Not constant-time: for public scalars. */
export function scale(curve: CurveArithmetic, point: CurvePoint, scalar: bigint): CurvePoint {
  return point.multiplyUnsafe(floorMod(scalar, curve.order));
}

/** Encodes a point without a length: 33 bytes compressed, or 32 bytes. */
export function pointBytes(point: CurvePoint): Uint8Array {
  return point.toBytes(true);
}

/** Encodes a point in BCS as in the protocol's messages. */
export function encodePoint(curve: CurveArithmetic, point: CurvePoint): Uint8Array {
  return curve.constants.lengthPrefixed ? encodeVector(pointBytes(point)) : pointBytes(point);
}

/** Reads the output of {@link encodePoint}. Rejects bytes that are no point of the prime-order group, and zero. */
export function readPoint(curve: CurveArithmetic, reader: ByteReader, what: string): CurvePoint {
  return decodePoint(curve, curve.constants.lengthPrefixed ? reader.vector(33) : reader.take(32), what);
}

/** Decodes the output of {@link pointBytes}, with the checks of {@link readPoint}. */
export function decodePoint(curve: CurveArithmetic, bytes: Uint8Array, what: string): CurvePoint {
  let point: CurvePoint;
  try {
    point = curve.decode(bytes);
  } catch {
    // The library throws plain errors with its own wording. The reason does not matter here.
    throw new RejectedInput(`${what} is not a point of the curve`);
  }
  rejectUnless(point.isTorsionFree() && !point.equals(curve.zero), `${what} is not in the prime-order group`);
  return point;
}

/** Encodes a scalar in 32 bytes: big-endian on the Weierstrass curves, else little-endian. */
export function scalarBytes(curve: CurveArithmetic, scalar: bigint): Uint8Array {
  return curve.constants.lengthPrefixed ? bigIntToBigEndian(scalar, 32) : bigIntToLittleEndian(scalar, 32);
}

/** Encodes a scalar in BCS as in the protocol's messages. */
export function encodeScalar(curve: CurveArithmetic, scalar: bigint): Uint8Array {
  const bytes = scalarBytes(curve, scalar);
  return curve.constants.lengthPrefixed ? encodeVector(bytes) : bytes;
}

/** Reads a scalar of a message. Rejects a scalar that is not reduced. */
export function readScalar(curve: CurveArithmetic, reader: ByteReader, what: string): bigint {
  const scalar = curve.constants.lengthPrefixed
    ? bigIntFromBigEndian(reader.vector(32))
    : bigIntFromLittleEndian(reader.take(32));
  rejectUnless(scalar < curve.order, `${what} is not a reduced scalar`);
  return scalar;
}

/** Encodes a point in a transcript's JSON: upper-case hex, or an array of bytes for the 32-byte encodings. */
export function pointJson(curve: CurveArithmetic, point: CurvePoint): string | number[] {
  const bytes = pointBytes(point);
  return curve.constants.lengthPrefixed ? bytesToHex(bytes).toUpperCase() : [...bytes];
}

/** Encodes a scalar in a transcript's JSON. */
export function scalarJson(curve: CurveArithmetic, scalar: bigint): string | number[] {
  // A Fischlin proof encodes about ten thousand scalars; this is faster than over their bytes.
  if (curve.constants.lengthPrefixed) return scalar.toString(16).padStart(64, "0").toUpperCase();
  return [...scalarBytes(curve, scalar)];
}

interface PointClass {
  readonly BASE: CurvePoint;
  readonly ZERO: CurvePoint;
  fromBytes(bytes: Uint8Array): CurvePoint;
}

function curve(number: number, points: PointClass): CurveArithmetic {
  const constants = curveConstants(number);
  return {
    constants,
    order: constants.order,
    group: classGroupOfCurve(number),
    base: points.BASE,
    zero: points.ZERO,
    decode: (bytes) => points.fromBytes(bytes),
  };
}

const CURVES: readonly CurveArithmetic[] = [
  curve(0, secp256k1.Point),
  curve(1, p256.Point),
  curve(2, ed25519.Point),
  curve(3, ristretto255.Point),
];
