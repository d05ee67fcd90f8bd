import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import {
  bigIntFromLittleEndian,
  bigIntToLittleEndian,
  equalBytes,
  signedBigIntFromLittleEndian,
} from "../../protocol/bytes.ts";
import { completeForm, encodeForm } from "../../protocol/class-groups/class-group.ts";
import {
  type ClassTerm,
  type CombTable,
  combPower,
  combTable,
} from "../../protocol/class-groups/exponentiation.ts";
import type { Form } from "../../protocol/class-groups/forms.ts";
import { floorMod } from "../../protocol/class-groups/integers.ts";
import {
  equalClasses,
  type OrderClass,
  type OrderGroup,
  squareClass,
  toMaximalOrder,
} from "../../protocol/class-groups/maximal-order.ts";

/** Builds the table of a base. */
export function fixedBase(group: OrderGroup, base: Form): FixedBase {
  const first = toMaximalOrder(group, base);
  let high = first;
  for (let count = 0; count < FIXED_BASE_BITS; count++) high = squareClass(group, high);
  const { entries, ...shape } = combTable(group, first, FIXED_BASE_BITS, FIXED_BASE_DEGREE);
  return {
    table: { ...shape, entries: entries.map((entry) => canonical(group, entry)) },
    high: canonical(group, high),
  };
}

/** Returns the class with u and v as they are stored. */
function canonical({ q }: OrderGroup, { a, b, c, u, v }: OrderClass): OrderClass {
  return { a, b, c, u: floorMod(u, q), v: floorMod(v, q) };
}

/** A frequent base with its table for exponents of {@link FIXED_BASE_BITS} bits, and a power for longer exponents. */
export interface FixedBase {
  readonly table: CombTable;
  /** base^(2^FIXED_BASE_BITS), for the bits of an exponent beyond the table. */
  readonly high: OrderClass;
}

/** A randomiser has 749 bits, which fit ten rows of 75. */
export const FIXED_BASE_BITS = 750;
/** Ten rows: 1024 classes. A power then takes 75 squarings and products, a few milliseconds. */
export const FIXED_BASE_DEGREE = 10;

/**
 * Returns base^exponent as two factors: a power from the table, and a term for the caller's multi-exponentiation. The
 * masked exponents of proofs need the second factor, because they are about 190 bits longer than the table.
 */
export function fixedBaseFactors(
  group: OrderGroup,
  base: FixedBase,
  exponent: bigint,
): { readonly power: OrderClass; readonly rest: ClassTerm } {
  const low = BigInt.asUintN(FIXED_BASE_BITS, exponent);
  return {
    power: combPower(group, base.table, low),
    rest: { base: base.high, exponent: exponent >> BigInt(FIXED_BASE_BITS) },
  };
}

/**
 * Stores tables as files in `directory`. Without a directory, or if it is not writable, each start builds the tables.
 * The name of a file is a digest of the base and the table's shape. The file begins with the digest of its content. A
 * file that is short, altered or for another base is replaced. Several processes may share a directory: files appear by
 * renaming, so a reader never sees a partial file. Tables contain public values.
 */
export function tableSource(directory: string | undefined): TableSource {
  if (directory === undefined) return { fixedBase };
  return {
    fixedBase: (group, base) => {
      const path = join(directory, `${bytesToHex(tableName(group, base))}.table`);
      const stored = readTable(path, group, base);
      if (stored !== undefined) return stored;
      const built = fixedBase(group, base);
      writeTable(directory, path, built);
      return built;
    },
  };
}

export interface TableSource {
  /** Builds or reads the table of `base`. */
  fixedBase(group: OrderGroup, base: Form): FixedBase;
}

function tableName(group: OrderGroup, base: Form): Uint8Array {
  const shape = `fixed base in the maximal order, ${FIXED_BASE_BITS} bits, degree ${FIXED_BASE_DEGREE}, ${group.discriminant}`;
  return sha256(concatBytes(new TextEncoder().encode(shape), encodeForm(base)));
}

/** The SHA-256 of some bytes, by OpenSSL: the tables have a quarter of a megabyte each, and a start reads eight. */
function sha256(bytes: Uint8Array): Uint8Array {
  return createHash("sha256").update(bytes).digest();
}

function readTable(path: string, group: OrderGroup, base: Form): FixedBase | undefined {
  try {
    const file = new Uint8Array(readFileSync(path));
    const content = file.subarray(DIGEST_BYTES);
    if (content.length !== CONTENT_BYTES || !equalBytes(sha256(content), file.subarray(0, DIGEST_BYTES))) {
      return undefined;
    }
    const classes: OrderClass[] = [];
    for (let offset = 0; offset < content.length; offset += CLASS_BYTES) {
      classes.push(decodeClass(group, content.subarray(offset, offset + CLASS_BYTES)));
    }
    const [high, ...entries] = classes;
    if (high === undefined || !equalClasses(group, entries[1]!, toMaximalOrder(group, base)))
      return undefined;
    return {
      table: { degree: FIXED_BASE_DEGREE, rowBits: FIXED_BASE_BITS / FIXED_BASE_DEGREE, entries },
      high,
    };
  } catch {
    // The file is missing, unreadable, or contains no forms of this group: build the table.
    return undefined;
  }
}

/** Encodes a and b in 96 bytes each, b in two's complement, and u and v in 32. */
function encodeClass({ a, b, u, v }: OrderClass): Uint8Array {
  return concatBytes(
    ...[a, b].map((coefficient) => bigIntToLittleEndian(coefficient, 96)),
    ...[u, v].map((unit) => bigIntToLittleEndian(unit, 32)),
  );
}

/** Throws InvalidFormError unless the form is reduced. */
function decodeClass({ maximal }: OrderGroup, bytes: Uint8Array): OrderClass {
  const a = bigIntFromLittleEndian(bytes.subarray(0, 96));
  const form = completeForm(maximal, a, signedBigIntFromLittleEndian(bytes.subarray(96, 192)));
  const unit = (offset: number): bigint => bigIntFromLittleEndian(bytes.subarray(offset, offset + 32));
  return { ...form, u: unit(192), v: unit(224) };
}

function writeTable(directory: string, path: string, { table, high }: FixedBase): void {
  const content = concatBytes(...[high, ...table.entries].map(encodeClass));
  const temporary = `${path}.${randomUUID()}`;
  try {
    mkdirSync(directory, { recursive: true });
  } catch {
    // The cache is optional: a disk that cannot store it must not stop the network. The same applies below.
    return;
  }
  try {
    writeFileSync(temporary, concatBytes(sha256(content), content));
    renameSync(temporary, path);
  } catch {
    rmSync(temporary, { force: true });
  }
}

const DIGEST_BYTES = 32;
const CLASS_BYTES = 256;
const CONTENT_BYTES = (2 ** FIXED_BASE_DEGREE + 1) * CLASS_BYTES;
