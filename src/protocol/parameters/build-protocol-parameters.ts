import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian, encodeUleb128, encodeVector, uint32ToLittleEndian } from "../bytes.ts";
import { type ClassGroup, classGroupOfCurve, encodeForm } from "../class-groups/class-group.ts";
import { type CombTable, combTable } from "../class-groups/comb.ts";
import type { Form } from "../class-groups/forms.ts";
import { bitLength } from "../class-groups/integers.ts";
import { type CurveConstants, curveConstants } from "./curve-constants.ts";
import { decodeNetworkKeyOutput } from "./network-key-output.ts";

/** How large the exponentiation tables inside the parameters are. They change speed and size, never a result. */
export interface TableShape {
  /** A table has 2^degree forms of 778 bytes. */
  readonly degree: number;
  /** Also the two tables of h for exponents beyond any that a client raises it to. */
  readonly long: boolean;
}

/** 2.4 MB a curve. Ika's WebAssembly is as fast as with the full tables, or faster: less to decode. */
export const COMPACT_TABLES: TableShape = { degree: 8, long: false };

/** 45 KB a curve, made in a millisecond: for calls that use no tables, as this project's own are. */
export const NO_TABLES: TableShape = { degree: 1, long: false };

/** 44.6 MB a curve, byte for byte what ika-wasm 0.2.1 derives. */
export const FULL_TABLES: TableShape = { degree: 12, long: true };

/**
 * Derives a curve's protocol public parameters from an output of the network key, in the form that every function of
 * the Ika SDK 0.4.1 takes, without the wasm module. The tables follow from the constants and the network key, so this
 * is also how to check parameters that someone else made. One to two seconds of one core with compact tables.
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
    Uint8Array.of(0), // No large messages: one scalar fits the plaintext space.
    element(group, encryptionKey),
  );
}

/**
 * The table lengths that the wasm module makes with degree 12: exponents that are scalars (256 bits) or scalars masked
 * for a proof (448), and randomisers (749) or masked randomisers (941), each rounded up to a multiple of 12.
 */
const SCALAR_TABLE_BITS = [264, 456];
const RANDOMNESS_TABLE_BITS = [756, 948];
const LONG_TABLE_BITS = [1872, 2064];

/** The space of encryption randomness: order bits of its integers, bits sampled, bits that a proof's response stays below. */
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

/** A discriminant -p*q^(2k+1) as (q, k, value), its integers `limbs` 64-bit words long. */
function discriminant(q: bigint, k: number, value: bigint, limbs: number): Uint8Array {
  const integer = (of: bigint) => encodeVector(bigIntToLittleEndian(of, 8 * limbs));
  return concatBytes(integer(q), uint32ToLittleEndian(k), integer(value));
}

/** The class groups' set-up: both discriminants, q, p, k, and q^2, by which the two groups' forms are mapped. */
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

/** A form with all three coefficients and the length of its discriminant: 778 bytes. */
function longForm(group: ClassGroup, { a, b, c }: Form): Uint8Array {
  const integers = [a, b, c].map((integer) => encodeVector(bigIntToLittleEndian(integer, 256)));
  return concatBytes(...integers, uint32ToLittleEndian(bitLength(group.discriminant)));
}

/** A form with the discriminant it belongs to. */
function element(group: ClassGroup, form: Form): Uint8Array {
  return concatBytes(longForm(group, form), discriminant(group.q, 1, group.discriminant, 32));
}

/** BCS map from base to its tables, in the order of the bases' bytes. */
function tableMap(
  group: ClassGroup,
  degree: number,
  bases: readonly { readonly base: Form; readonly bits: readonly number[] }[],
): Uint8Array {
  const entries = bases.map(({ base, bits }) => ({
    key: longForm(group, base),
    tables: bits.map((count) => encodeTable(group, base, combTable(group, base, count, degree))),
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
    ...entries.map((form) => longForm(group, form)),
    ...[degree * rowBits, degree, rowBits].map(uint32ToLittleEndian),
  );
}

function compareBytes(left: Uint8Array, right: Uint8Array): number {
  const index = left.findIndex((byte, position) => byte !== right[position]);
  return index < 0 ? 0 : left[index]! - right[index]!;
}
