import { randomUUID } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { equalBytes } from "../../protocol/bytes.ts";
import { decodeReducedForm, encodeForm, FORM_BYTES } from "../../protocol/class-groups/class-group.ts";
import {
  type CombTable,
  combPower,
  combTable,
  type PowerTerm,
} from "../../protocol/class-groups/exponentiation.ts";
import { type Form, type FormGroup, squareForm } from "../../protocol/class-groups/forms.ts";

/** Builds the table of a base. */
export function fixedBase(group: FormGroup, base: Form): FixedBase {
  let high = base;
  for (let count = 0; count < FIXED_BASE_BITS; count++) high = squareForm(group, high);
  return { table: combTable(group, base, FIXED_BASE_BITS, FIXED_BASE_DEGREE), high };
}

/** A frequent base with its table for exponents of {@link FIXED_BASE_BITS} bits, and a power for longer exponents. */
export interface FixedBase {
  readonly table: CombTable;
  /** base^(2^FIXED_BASE_BITS), for the bits of an exponent beyond the table. */
  readonly high: Form;
}

/** A randomiser has 749 bits, which fit ten rows of 75. */
export const FIXED_BASE_BITS = 750;
/** Ten rows: 1024 forms, built in about 0.1 s. A power then takes 75 squarings and products, about 9 ms. */
export const FIXED_BASE_DEGREE = 10;

/**
 * Returns base^exponent as two factors: a power from the table, and a term for the caller's multi-exponentiation. The
 * masked exponents of proofs need the second factor, because they are about 190 bits longer than the table.
 */
export function fixedBaseFactors(
  group: FormGroup,
  base: FixedBase,
  exponent: bigint,
): { readonly power: Form; readonly rest: PowerTerm } {
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
  fixedBase(group: FormGroup, base: Form): FixedBase;
}

function tableName(group: FormGroup, base: Form): Uint8Array {
  const shape = `fixed base, ${FIXED_BASE_BITS} bits, degree ${FIXED_BASE_DEGREE}, ${group.discriminant}`;
  return sha256(concatBytes(new TextEncoder().encode(shape), encodeForm(base)));
}

function readTable(path: string, group: FormGroup, base: Form): FixedBase | undefined {
  try {
    const file = new Uint8Array(readFileSync(path));
    const content = file.subarray(DIGEST_BYTES);
    if (content.length !== CONTENT_BYTES || !equalBytes(sha256(content), file.subarray(0, DIGEST_BYTES))) {
      return undefined;
    }
    const forms: Form[] = [];
    for (let offset = 0; offset < content.length; offset += FORM_BYTES) {
      forms.push(decodeReducedForm(group, content.subarray(offset, offset + FORM_BYTES)));
    }
    const [high, ...entries] = forms;
    if (high === undefined || entries[1]?.a !== base.a || entries[1].b !== base.b) return undefined;
    return {
      table: { degree: FIXED_BASE_DEGREE, rowBits: FIXED_BASE_BITS / FIXED_BASE_DEGREE, entries },
      high,
    };
  } catch {
    // The file is missing, unreadable, or contains no forms of this group: build the table.
    return undefined;
  }
}

function writeTable(directory: string, path: string, { table, high }: FixedBase): void {
  const content = concatBytes(...[high, ...table.entries].map(encodeForm));
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
const CONTENT_BYTES = (2 ** FIXED_BASE_DEGREE + 1) * FORM_BYTES;
