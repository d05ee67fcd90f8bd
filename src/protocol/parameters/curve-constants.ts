import { hexToBytes } from "../bytes.ts";
import { classGroupOfCurve } from "../class-groups/class-group.ts";

/** Returns the constants of a curve by its chain number. Throws a RangeError for an unknown number. */
export function curveConstants(curve: number): CurveConstants {
  const constants = CURVES[curve];
  if (constants === undefined) throw new RangeError(`unknown curve ${curve}`);
  return constants;
}

/** The constants that describe a curve in the protocol's public parameters and transcripts. */
export interface CurveConstants {
  /** The chain's number: 0 SECP256K1, 1 SECP256R1, 2 ED25519, 3 RISTRETTO. */
  readonly curve: number;
  /** The curve's name as the protocol's transcripts spell it. */
  readonly name: string;
  readonly equation: "Weierstrass" | "Montgomery";
  /** The order of the group, and of the scalars. */
  readonly order: bigint;
  /** Little-endian, 32 bytes each: the field's modulus and the curve equation's coefficients. */
  readonly modulus: Uint8Array;
  readonly coefficientA: Uint8Array;
  readonly coefficientB: Uint8Array;
  /** The base point: 33 bytes compressed (Weierstrass), or 32 bytes. */
  readonly generator: Uint8Array;
  /** SEC1 points and big-endian scalars, each with a length; else raw 32-byte points and little-endian scalars. */
  readonly lengthPrefixed: boolean;
}

const MONTGOMERY = {
  equation: "Montgomery",
  lengthPrefixed: false,
  modulus: hexToBytes(`ed${"ff".repeat(30)}7f`),
  coefficientA: hexToBytes(`066d07${"00".repeat(29)}`),
  coefficientB: hexToBytes(`01${"00".repeat(31)}`),
} as const;

const CURVES: readonly CurveConstants[] = [
  {
    curve: 0,
    name: "Secp256k1",
    equation: "Weierstrass",
    lengthPrefixed: true,
    order: classGroupOfCurve(0).q,
    modulus: hexToBytes(`2ffcfffffeff${"ff".repeat(26)}`),
    coefficientA: new Uint8Array(32),
    coefficientB: hexToBytes(`07${"00".repeat(31)}`),
    generator: hexToBytes("0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"),
  },
  {
    curve: 1,
    name: "secp256r1",
    equation: "Weierstrass",
    lengthPrefixed: true,
    order: classGroupOfCurve(1).q,
    modulus: hexToBytes(`${"ff".repeat(12)}${"00".repeat(12)}01000000ffffffff`),
    coefficientA: hexToBytes(`fc${"ff".repeat(11)}${"00".repeat(12)}01000000ffffffff`),
    coefficientB: hexToBytes("4b60d2273e3cce3bf6b053ccb0061d65bc86987655bdebb3e7933aaad835c65a"),
    generator: hexToBytes("036b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296"),
  },
  {
    ...MONTGOMERY,
    curve: 2,
    name: "Curve25519",
    order: classGroupOfCurve(2).q,
    generator: hexToBytes("5866666666666666666666666666666666666666666666666666666666666666"),
  },
  {
    ...MONTGOMERY,
    curve: 3,
    name: "Ristretto",
    order: classGroupOfCurve(3).q,
    generator: hexToBytes("e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76"),
  },
];
