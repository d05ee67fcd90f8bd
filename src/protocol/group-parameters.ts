import { ed25519 } from "@noble/curves/ed25519.js";
import { p256 } from "@noble/curves/nist.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { bytesToHex } from "@noble/hashes/utils.js";
import type { CurveName } from "./algorithms.ts";
import { bigIntToLittleEndian } from "./bytes.ts";
import { curveGroup, type GroupPoint } from "./curve-group.ts";

/**
 * Returns the curve's public parameters as the protocol's transcripts absorb them: JSON with an indent of two. Checked
 * against ika-wasm 0.2.1: its partial signatures verify under transcripts with this text.
 */
export function groupParametersJson(curve: CurveName): string {
  const { name, type, modulus, a, b } = SHAPES[curve];
  const { order, base } = curveGroup(curve);
  return prettyJson({
    name,
    curve_type: type,
    order: hex(order),
    modulus: hex(modulus),
    generator: groupPointJson(curve, base),
    curve_equation_a: hex(a),
    curve_equation_b: hex(b),
  });
}

/** Encodes a point in a transcript's JSON: upper-case hex on the secp curves, an array of bytes on the others. */
export function groupPointJson(curve: CurveName, point: GroupPoint): string | number[] {
  const bytes = point.toBytes();
  return curveGroup(curve).isSecp ? bytesToHex(bytes).toUpperCase() : [...bytes];
}

/** Encodes JSON as transcripts absorb it: indented by two spaces. */
export function prettyJson(value: unknown): string {
  return JSON.stringify(value, null, 2);
}

/** Returns the lower-case hex of 32 little-endian bytes. */
function hex(value: bigint): string {
  return bytesToHex(bigIntToLittleEndian(value, 32));
}

interface Shape {
  readonly name: string;
  readonly type: "Weierstrass" | "Montgomery";
  readonly modulus: bigint;
  readonly a: bigint;
  readonly b: bigint;
}

/** Curve25519 in its Montgomery form, y^2 = x^3 + 486662 x^2 + x. */
const CURVE25519 = { type: "Montgomery", modulus: ed25519.Point.Fp.ORDER, a: 486_662n, b: 1n } as const;
const K1 = secp256k1.Point.CURVE();
const R1 = p256.Point.CURVE();

const SHAPES: Readonly<Record<CurveName, Shape>> = {
  SECP256K1: { name: "Secp256k1", type: "Weierstrass", modulus: K1.p, a: K1.a, b: K1.b },
  SECP256R1: { name: "secp256r1", type: "Weierstrass", modulus: R1.p, a: R1.a, b: R1.b },
  ED25519: { name: "Curve25519", ...CURVE25519 },
  RISTRETTO: { name: "Ristretto", ...CURVE25519 },
};
