import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian, encodeUleb128, encodeVector, uint32ToLittleEndian } from "../bytes.ts";
import { type ClassGroup, classGroupOfCurve, encodeForm } from "../class-groups/class-group.ts";
import { type CombTable, combTable } from "../class-groups/exponentiation.ts";
import type { Form } from "../class-groups/forms.ts";
import { bitLength } from "../class-groups/integers.ts";
import { fromMaximalOrder, toMaximalOrder } from "../class-groups/maximal-order.ts";
import { type CurveConstants, curveConstants } from "./curve-constants.ts";
import { decodeNetworkKeyOutput } from "./network-key-output.ts";

/**
 * Derives a curve's protocol public parameters from an output of the network key, in the form that every function of
 * the Ika SDK 0.4.1 accepts, without the wasm module. The tables follow from the constants and the network key, so this
 * function can also check parameters from another source. Takes one to two seconds of one core with compact tables.
 *
 * Throws a RangeError for an unknown curve; UnsupportedOutputError for an output of another version;
 * MalformedBytesError or InvalidFormError for a malformed one.
 */
export function buildProtocolParameters(
  curve: number,
  networkKeyOutput: Uint8Array,
  tables: TableShape = COMPACT_TABLES,
): Uint8Array {
  const constants = curveConstants(curve);
  const group = classGroupOfCurve(curve);
  const network = decodeNetworkKeyOutput(networkKeyOutput);
  const { encryptedShares, publicShares } = network.shares[curve as 0 | 1 | 2 | 3];
  const encryptionKey = network.encryptionKeys[curve as 0 | 1 | 2 | 3];
  const shareForms = encryptedShares.flat();
  const long = tables.long ? LONG_TABLE_BITS : [];
  return concatBytes(
    ...publicShares.map((point) => encodePoint(constants, point)),
    ...shareForms.map((form) => encodeVector(encodeForm(form))),
    scalarGroup(constants),
    curveGroup(constants),
    scalarGroup(constants),
    RANDOMNESS_SPACE,
    discriminant(group.q, 1, group.discriminant, 32),
    tableMap(group, tables.degree, [
      ...shareForms.map((base) => ({ base, bits: SCALAR_TABLE_BITS })),
      { base: encryptionKey, bits: RANDOMNESS_TABLE_BITS },
      { base: group.h, bits: [...RANDOMNESS_TABLE_BITS, ...long] },
    ]),
    RANDOMNESS_SPACE,
    setup(group),
    element(group, group.h),
    Uint8Array.of(0), // No large-message variant: one scalar fits into the plaintext space.
    element(group, encryptionKey),
  );
}

/** The size of the exponentiation tables in the parameters. The tables affect speed and size, never a result. */
export interface TableShape {
  /** A table contains 2^degree forms of 778 bytes each. */
  readonly degree: number;
  /** Adds the two tables of h for exponents that are longer than any that a client uses. */
  readonly long: boolean;
}

/** 2.4 MB per curve. Ika's WebAssembly is at least as fast as with the full tables, because it decodes less. */
export const COMPACT_TABLES: TableShape = { degree: 8, long: false };

/** 45 KB per curve, built in a millisecond. For calls that use no tables, such as this project's own. */
export const NO_TABLES: TableShape = { degree: 1, long: false };

/** 44.6 MB per curve, byte for byte equal to the parameters that ika-wasm 0.2.1 derives. */
export const FULL_TABLES: TableShape = { degree: 12, long: true };

/**
 * The table lengths of the wasm module with degree 12: exponents are scalars (256 bits), scalars masked for a proof
 * (448), randomisers (749) or masked randomisers (941), each rounded up to a multiple of 12.
 */
const SCALAR_TABLE_BITS = [264, 456];
const RANDOMNESS_TABLE_BITS = [756, 948];
const LONG_TABLE_BITS = [1872, 2064];

/**
 * The space of encryption randomness: the order bits, the sampled bits, and the bound in bits of a proof's response.
 */
const RANDOMNESS_SPACE = concatBytes(...[1536, 749, 1278].map(uint32ToLittleEndian));

const COMPUTATIONAL_SECURITY_BITS = 112;

const utf8 = (text: string) => new TextEncoder().encode(text);

function encodePoint({ lengthPrefixed }: CurveConstants, point: Uint8Array): Uint8Array {
  return lengthPrefixed ? encodeVector(point) : point;
}

function scalarGroup(constants: CurveConstants): Uint8Array {
  const one = bigIntToLittleEndian(1n, 32);
  return concatBytes(
    encodeVector(utf8("The finite field of integers modulo prime q $\\mathbb{Z}_q$")),
    encodeVector(bigIntToLittleEndian(constants.order, 32)),
    constants.lengthPrefixed ? encodeVector(one.slice().reverse()) : one,
  );
}

function curveGroup(constants: CurveConstants): Uint8Array {
  return concatBytes(
    encodeVector(utf8(constants.name)),
    encodeVector(utf8(constants.equation)),
    encodeVector(bigIntToLittleEndian(constants.order, 32)),
    encodeVector(constants.modulus),
    encodePoint(constants, constants.generator),
    encodeVector(constants.coefficientA),
    encodeVector(constants.coefficientB),
  );
}

/** Encodes a discriminant -p*q^(2k+1) as (q, k, value). Its integers have `limbs` 64-bit words. */
function discriminant(q: bigint, k: number, value: bigint, limbs: number): Uint8Array {
  const integer = (of: bigint) => encodeVector(bigIntToLittleEndian(of, 8 * limbs));
  return concatBytes(integer(q), uint32ToLittleEndian(k), integer(value));
}

/** Encodes the class groups' setup: both discriminants, q, p, k, and q^2, which maps forms between the two groups. */
function setup(group: ClassGroup): Uint8Array {
  const { q, p } = group;
  return concatBytes(
    discriminant(q, 0, -p * q, 24),
    discriminant(q, 1, group.discriminant, 32),
    encodeVector(bigIntToLittleEndian(q, 32)),
    encodeVector(bigIntToLittleEndian(p, 192)),
    Uint8Array.of(1),
    encodeVector(bigIntToLittleEndian(q * q, 256)),
    uint32ToLittleEndian(COMPUTATIONAL_SECURITY_BITS),
  );
}

/** Encodes a form: all three coefficients and the bit length of its discriminant, 778 bytes. */
function longForm(group: ClassGroup, { a, b, c }: Form): Uint8Array {
  const integers = [a, b, c].map((integer) => encodeVector(bigIntToLittleEndian(integer, 256)));
  return concatBytes(...integers, uint32ToLittleEndian(bitLength(group.discriminant)));
}

/** Encodes a form with its discriminant. */
function element(group: ClassGroup, form: Form): Uint8Array {
  return concatBytes(longForm(group, form), discriminant(group.q, 1, group.discriminant, 32));
}

/** Encodes a BCS map from each base to its tables, sorted by the bytes of the base. */
function tableMap(
  group: ClassGroup,
  degree: number,
  bases: readonly { readonly base: Form; readonly bits: readonly number[] }[],
): Uint8Array {
  const entries = bases.map(({ base, bits }) => ({
    key: longForm(group, base),
    tables: bits.map((count) =>
      encodeTable(group, base, combTable(group, toMaximalOrder(group, base), count, degree)),
    ),
  }));
  entries.sort((left, right) => compareBytes(left.key, right.key));
  return concatBytes(
    encodeUleb128(entries.length),
    ...entries.flatMap(({ key, tables }) => [key, encodeUleb128(tables.length), ...tables]),
  );
}

function encodeTable(group: ClassGroup, base: Form, { degree, rowBits, entries }: CombTable): Uint8Array {
  return concatBytes(
    element(group, base),
    encodeUleb128(entries.length),
    ...entries.map((entry) => longForm(group, fromMaximalOrder(group, entry))),
    ...[degree * rowBits, degree, rowBits].map(uint32ToLittleEndian),
  );
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const index = left.findIndex((byte, position) => byte !== right[position]);
  return index < 0 ? 0 : left[index]! - right[index]!;
}
