import type { Steps } from "../chain/read-errors.ts";
import type { Form } from "./forms.ts";
import { bitLength } from "./integers.ts";
import {
  composeClasses,
  fromMaximalOrder,
  invertClass,
  neutralClass,
  type OrderClass,
  type OrderGroup,
  squareClass,
  toMaximalOrder,
} from "./maximal-order.ts";

/** One factor base^exponent of a product. A negative exponent raises the inverse. */
export interface PowerTerm {
  readonly base: Form;
  readonly exponent: bigint;
}

/** One factor base^exponent of a product of classes. */
export interface ClassTerm {
  readonly base: OrderClass;
  readonly exponent: bigint;
}

/** Returns base^exponent. Not constant-time: do not use it for a secret exponent that an attacker can time. */
export function powerForm(group: OrderGroup, base: Form, exponent: bigint): Form {
  return multiPower(group, [{ base, exponent }]);
}

/** Returns the product of all terms: see {@link productOfPowers}. */
export function multiPower(group: OrderGroup, terms: readonly PowerTerm[]): Form {
  return fromMaximalOrder(group, productOfPowers(group, classTerms(group, terms)));
}

/** Returns the terms with their bases as classes. */
export function classTerms(group: OrderGroup, terms: readonly PowerTerm[]): ClassTerm[] {
  return terms.map(({ base, exponent }) => ({ base: toMaximalOrder(group, base), exponent }));
}

/**
 * Returns the product of all terms. All terms share one run of squarings (Straus' method; Handbook of Applied
 * Cryptography, Algorithm 14.88). Exponents are in width-w non-adjacent form, because inverting a class is free.
 */
export function productOfPowers(group: OrderGroup, terms: readonly ClassTerm[]): OrderClass {
  const bits = terms.reduce((most, { exponent }) => Math.max(most, bitLength(exponent)), 0);
  // A non-adjacent form may need one position more than the bits.
  const factors: OrderClass[][] = Array.from({ length: bits + 1 }, () => []);
  for (const { base, exponent } of terms) {
    const magnitude = exponent < 0n ? -exponent : exponent;
    if (magnitude === 0n) continue;
    const width = windowWidth(bitLength(magnitude));
    const odd = oddPowers(group, exponent < 0n ? invertClass(base) : base, 1 << (width - 2));
    for (const { position, digit } of nonAdjacentForm(magnitude, width)) {
      const power = odd[(Math.abs(digit) - 1) / 2]!;
      factors[position]!.push(digit < 0 ? invertClass(power) : power);
    }
  }
  let product = neutralClass(group);
  for (let position = factors.length - 1; position >= 0; position--) {
    product = squareClass(group, product);
    for (const factor of factors[position]!) product = composeClasses(group, product, factor);
  }
  return product;
}

/** Returns base^1, base^3, base^5, ... */
function oddPowers(group: OrderGroup, base: OrderClass, count: number): OrderClass[] {
  const powers = [base];
  if (count === 1) return powers;
  const square = squareClass(group, base);
  while (powers.length < count) powers.push(composeClasses(group, powers[powers.length - 1]!, square));
  return powers;
}

/** Balances the cost of the table (2^(w-2) products) against the digits that it saves. */
function windowWidth(bits: number): number {
  return bits > 512 ? 6 : bits > 160 ? 5 : bits > 40 ? 4 : 2;
}

/**
 * A base with its powers base^(2^i) for i from 0. Several exponentiations of one base share its squarings, and powers of
 * several bases are multiplied in one pass.
 */
export interface PowerLadder {
  readonly base: Form;
  readonly rungs: readonly OrderClass[];
}

/** base^exponent, with the ladder of the base. The exponent must not be negative. */
export interface LadderTerm {
  readonly ladder: PowerLadder;
  readonly exponent: bigint;
}

/** Builds the ladder for exponents of up to `bits` bits, with one extra rung that a signed digit may need. */
export function* powerLadder(group: OrderGroup, base: Form, bits: number): Steps<PowerLadder> {
  const rungs = [toMaximalOrder(group, base)];
  while (rungs.length <= bits) {
    rungs.push(squareClass(group, rungs[rungs.length - 1]!));
    if (rungs.length % PAUSE_COUNT === 0) yield;
  }
  return { base, rungs };
}

/**
 * Returns the product of all terms, by Yao's method (Knuth, TAOCP 2, answer to 4.6.3-9) with signed digits: it first
 * multiplies the rungs of equal digits, across all bases. Not constant-time. Throws a RangeError for an exponent that
 * is negative or exceeds its ladder.
 */
export function* ladderProduct(group: OrderGroup, terms: readonly LadderTerm[]): Steps<OrderClass> {
  // Entry i collects the factors with the exponent 2i + 1.
  const buckets = Array.from({ length: 1 << (DIGIT_WIDTH - 2) }, () => neutralClass(group));
  let count = 0;
  for (const { ladder, exponent } of terms) {
    if (exponent < 0n) throw new RangeError("exponent is negative");
    for (const { position, digit } of nonAdjacentForm(exponent, DIGIT_WIDTH)) {
      const rung = ladder.rungs[position];
      if (rung === undefined) throw new RangeError("exponent exceeds the ladder");
      const bucket = (Math.abs(digit) - 1) / 2;
      buckets[bucket] = composeClasses(group, buckets[bucket]!, digit < 0 ? invertClass(rung) : rung);
      if (++count % PAUSE_COUNT === 0) yield;
    }
  }
  // The sum of (2i + 1) b_i is twice the sum of all tails from 1 on, and the tail from 0.
  let tail = neutralClass(group);
  let tails = tail;
  for (let index = buckets.length - 1; index > 0; index--) {
    tail = composeClasses(group, tail, buckets[index]!);
    tails = composeClasses(group, tails, tail);
  }
  const last = composeClasses(group, tail, buckets[0]!);
  return composeClasses(group, squareClass(group, tails), last);
}

/** Digits are odd and below 2^6 in magnitude: fastest for two or three exponents of a thousand bits. */
const DIGIT_WIDTH = 7;
/** The number of steps between two yields: a few milliseconds of work. */
const PAUSE_COUNT = 64;

/**
 * Precomputed powers of one base for fast exponentiation: the comb of Lim and Lee (Crypto '94; Handbook of Applied
 * Cryptography, Algorithm 14.117). The exponent is split into `degree` rows of `rowBits` bits.
 * Entry i is the product of base^(2^(j*rowBits)) over the bits j that are set in i. Entry 0 is the identity.
 */
export interface CombTable {
  readonly degree: number;
  readonly rowBits: number;
  /** 2^degree classes. */
  readonly entries: readonly OrderClass[];
}

/** Builds the table for exponents of up to `bits` bits: 2^degree products and about `bits` squarings. */
export function combTable(group: OrderGroup, base: OrderClass, bits: number, degree: number): CombTable {
  const rowBits = Math.ceil(bits / degree);
  const entries = [neutralClass(group), base];
  for (let row = 1; row < degree; row++) {
    let corner = entries[1 << (row - 1)]!;
    for (let count = 0; count < rowBits; count++) corner = squareClass(group, corner);
    const below = entries.length;
    entries.push(corner);
    for (let index = 1; index < below; index++) entries.push(composeClasses(group, corner, entries[index]!));
  }
  return { degree, rowBits, entries };
}

/** Returns base^exponent. Throws a RangeError if the exponent is negative or longer than the table's bits. */
export function combPower(group: OrderGroup, table: CombTable, exponent: bigint): OrderClass {
  const { degree, rowBits, entries } = table;
  if (exponent < 0n || bitLength(exponent) > degree * rowBits)
    throw new RangeError("exponent exceeds the table");
  const bits = [...exponent.toString(2)].reverse();
  let power = neutralClass(group);
  for (let column = rowBits - 1; column >= 0; column--) {
    power = squareClass(group, power);
    let index = 0;
    for (let row = degree - 1; row >= 0; row--)
      index = 2 * index + (bits[row * rowBits + column] === "1" ? 1 : 0);
    if (index > 0) power = composeClasses(group, power, entries[index]!);
  }
  return power;
}

/**
 * Returns the non-zero digits of `value` in width-w non-adjacent form: value is the sum of digit * 2^position. All
 * digits are odd and below 2^(width-1) in magnitude.
 */
export function nonAdjacentForm(value: bigint, width: number): SignedDigit[] {
  const bits = [...value.toString(2)].reverse().map(Number);
  const digits: SignedDigit[] = [];
  let carry = 0;
  let position = 0;
  while (position < bits.length || carry !== 0) {
    if ((((bits[position] ?? 0) + carry) & 1) === 0) {
      carry = ((bits[position] ?? 0) + carry) >> 1;
      position++;
      continue;
    }
    let digit = carry;
    for (let index = 0; index < width; index++) digit += (bits[position + index] ?? 0) << index;
    carry = digit >= 1 << (width - 1) ? 1 : 0;
    digits.push({ position, digit: digit - (carry << width) });
    position += width;
  }
  return digits;
}

/** The digit times 2^position. */
export interface SignedDigit {
  readonly position: number;
  readonly digit: number;
}
