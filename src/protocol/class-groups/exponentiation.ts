import { composeForms, type Form, type FormGroup, invertForm, squareForm } from "./forms.ts";
import { bitLength } from "./integers.ts";
import { nonAdjacentForm } from "./non-adjacent-form.ts";

/** One factor base^exponent of a product. A negative exponent raises the inverse. */
export interface PowerTerm {
  readonly base: Form;
  readonly exponent: bigint;
}

/** Returns base^exponent. Not constant-time: do not use it for a secret exponent that an attacker can time. */
export function powerForm(group: FormGroup, base: Form, exponent: bigint): Form {
  return multiPower(group, [{ base, exponent }]);
}

/**
 * Returns the product of all terms. All terms share one run of squarings (Straus' method; Handbook of Applied
 * Cryptography, Algorithm 14.88). Exponents are in width-w non-adjacent form, because inverting a form is free.
 */
export function multiPower(group: FormGroup, terms: readonly PowerTerm[]): Form {
  const bits = terms.reduce((most, { exponent }) => Math.max(most, bitLength(exponent)), 0);
  // A non-adjacent form may need one position more than the bits.
  const factors: Form[][] = Array.from({ length: bits + 1 }, () => []);
  for (const { base, exponent } of terms) {
    const magnitude = exponent < 0n ? -exponent : exponent;
    const width = windowWidth(bitLength(magnitude));
    const odd = oddPowers(group, exponent < 0n ? invertForm(base) : base, 1 << (width - 2));
    for (const { position, digit } of nonAdjacentForm(magnitude, width)) {
      const power = odd[(Math.abs(digit) - 1) / 2]!;
      factors[position]!.push(digit < 0 ? invertForm(power) : power);
    }
  }
  let product = group.identity;
  for (let position = factors.length - 1; position >= 0; position--) {
    product = squareForm(group, product);
    for (const factor of factors[position]!) product = composeForms(group, product, factor);
  }
  return product;
}

/** Returns base^1, base^3, base^5, ... */
function oddPowers(group: FormGroup, base: Form, count: number): Form[] {
  const powers = [base];
  const square = squareForm(group, base);
  while (powers.length < count) powers.push(composeForms(group, powers[powers.length - 1]!, square));
  return powers;
}

/** Balances the cost of the table (2^(w-2) products) against the digits that it saves. */
function windowWidth(bits: number): number {
  return bits > 512 ? 6 : bits > 160 ? 5 : bits > 40 ? 4 : 2;
}
