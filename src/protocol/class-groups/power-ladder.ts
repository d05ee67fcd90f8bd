import type { Steps } from "../steps.ts";
import { composeForms, type Form, type FormGroup, invertForm, squareForm } from "./forms.ts";
import { nonAdjacentForm } from "./non-adjacent-form.ts";

/**
 * base^(2^i) for i from 0. Several exponentiations of one base share its squarings, and powers of several bases are
 * multiplied in one pass.
 */
export type PowerLadder = readonly Form[];

/** base^exponent, with the ladder of the base. The exponent must not be negative. */
export interface LadderTerm {
  readonly ladder: PowerLadder;
  readonly exponent: bigint;
}

/** Builds the ladder for exponents of up to `bits` bits, with one extra rung that a signed digit may need. */
export function* powerLadder(group: FormGroup, base: Form, bits: number): Steps<PowerLadder> {
  const rungs = [base];
  while (rungs.length <= bits) {
    rungs.push(squareForm(group, rungs[rungs.length - 1]!));
    if (rungs.length % PAUSE_COUNT === 0) yield;
  }
  return rungs;
}

/**
 * Returns the product of all terms, by Yao's method (Knuth, TAOCP 2, answer to 4.6.3-9) with signed digits: it first
 * multiplies the rungs of equal digits, across all bases. Not constant-time. Throws a RangeError for an exponent that
 * is negative or exceeds its ladder.
 */
export function* ladderProduct(group: FormGroup, terms: readonly LadderTerm[]): Steps<Form> {
  // Entry i collects the factors with the exponent 2i + 1.
  const buckets: Form[] = Array.from({ length: 1 << (DIGIT_WIDTH - 2) }, () => group.identity);
  let count = 0;
  for (const { ladder, exponent } of terms) {
    if (exponent < 0n) throw new RangeError("exponent is negative");
    for (const { position, digit } of nonAdjacentForm(exponent, DIGIT_WIDTH)) {
      const rung = ladder[position];
      if (rung === undefined) throw new RangeError("exponent exceeds the ladder");
      const bucket = (Math.abs(digit) - 1) / 2;
      buckets[bucket] = composeForms(group, buckets[bucket]!, digit < 0 ? invertForm(rung) : rung);
      if (++count % PAUSE_COUNT === 0) yield;
    }
  }
  // The sum of (2i + 1) b_i is twice the sum of all tails from 1 on, and the tail from 0.
  let tail = group.identity;
  let tails = group.identity;
  for (let index = buckets.length - 1; index > 0; index--) {
    tail = composeForms(group, tail, buckets[index]!);
    tails = composeForms(group, tails, tail);
  }
  return composeForms(group, squareForm(group, tails), composeForms(group, tail, buckets[0]!));
}

/** Digits are odd and below 2^6 in magnitude: fastest for two or three exponents of a thousand bits. */
const DIGIT_WIDTH = 7;
/** The number of steps between two yields, which take a few milliseconds. */
const PAUSE_COUNT = 64;
