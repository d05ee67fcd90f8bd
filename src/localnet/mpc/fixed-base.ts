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
