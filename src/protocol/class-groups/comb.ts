import { composeForms, type Form, type FormGroup, squareForm } from "./forms.ts";
import { bitLength } from "./integers.ts";

/**
 * Precomputed powers of one base for fast exponentiation: the comb of Lim and Lee (Crypto '94; Handbook of Applied
 * Cryptography, Algorithm 14.117). The exponent is split into `degree` rows of `rowBits` bits.
 * Entry i is the product of base^(2^(j*rowBits)) over the bits j that are set in i. Entry 0 is the identity.
 */
export interface CombTable {
  readonly degree: number;
  readonly rowBits: number;
  /** 2^degree forms. */
  readonly entries: readonly Form[];
}

/** Builds the table for exponents of up to `bits` bits: 2^degree products and about `bits` squarings. */
export function combTable(group: FormGroup, base: Form, bits: number, degree: number): CombTable {
  const rowBits = Math.ceil(bits / degree);
  const entries: Form[] = [group.identity, base];
  for (let row = 1; row < degree; row++) {
    let corner = entries[1 << (row - 1)]!;
    for (let count = 0; count < rowBits; count++) corner = squareForm(group, corner);
    const below = entries.length;
    entries.push(corner);
    for (let index = 1; index < below; index++) entries.push(composeForms(group, corner, entries[index]!));
  }
  return { degree, rowBits, entries };
}

/** Returns base^exponent. Throws a RangeError if the exponent is negative or longer than the table's bits. */
export function combPower(group: FormGroup, table: CombTable, exponent: bigint): Form {
  const { degree, rowBits, entries } = table;
  if (exponent < 0n || bitLength(exponent) > degree * rowBits)
    throw new RangeError("exponent exceeds the table");
  const bits = [...exponent.toString(2)].reverse();
  let power = group.identity;
  for (let column = rowBits - 1; column >= 0; column--) {
    power = squareForm(group, power);
    let index = 0;
    for (let row = degree - 1; row >= 0; row--)
      index = 2 * index + (bits[row * rowBits + column] === "1" ? 1 : 0);
    if (index > 0) power = composeForms(group, power, entries[index]!);
  }
  return power;
}
