import { multiPower, nonAdjacentForm, type PowerTerm } from "../class-groups/exponentiation.ts";
import { equalForms, type Form } from "../class-groups/forms.ts";
import { floorMod } from "../class-groups/integers.ts";
import type { CurveArithmetic, CurvePoint } from "./curve.ts";
import { rejectUnless } from "./rejected-input.ts";

/** scalar * point. */
export interface PointTerm {
  readonly point: CurvePoint;
  readonly scalar: bigint;
}

/** Claims that the sum of all terms is the neutral point. */
export interface PointEquation {
  /** The reason of the rejection if the equation does not hold. */
  readonly label: string;
  readonly terms: readonly PointTerm[];
}

/** Claims that the product of all powers is the neutral class. */
export interface FormEquation {
  readonly label: string;
  readonly terms: readonly PowerTerm[];
}

/** An equation between the first (0) or the second (1) forms of ciphertexts. */
export interface PartEquation extends FormEquation {
  readonly part: 0 | 1;
}

/** The equations of a set of proofs in both groups. Hash checks are not included. */
export interface ProofEquations {
  readonly points: readonly PointEquation[];
  readonly forms: readonly PartEquation[];
}

/** Computes a product of powers. A verifier with tables for some bases has a faster one. */
export type PowerProduct = (terms: readonly PowerTerm[]) => Form;

/** Checks every equation in order. Rejects with the label of the first one that does not hold. */
export function checkEach(
  curve: CurveArithmetic,
  { points, forms }: ProofEquations,
  product: PowerProduct = (terms) => multiPower(curve.group, terms),
): void {
  for (const { label, terms } of points) rejectUnless(pointSum(curve, terms).equals(curve.zero), label);
  for (const { label, terms } of forms) {
    rejectUnless(equalForms(product(terms), curve.group.identity), label);
  }
}

/**
 * Combines all equations of each group into one, which holds if they all hold. Every equation gets its own random
 * weight, so a false equation passes with a probability of one over the number of weights. (Elements of small order in
 * the class group are an exception, but no accidental error produces one.) A base that occurs in several equations is
 * raised once.
 */
export function combineEquations(
  { points, forms }: ProofEquations,
  weight: () => bigint,
): { readonly points: readonly PointTerm[]; readonly forms: readonly PowerTerm[] } {
  const scalars = new Map<CurvePoint, bigint>();
  for (const { terms } of points) {
    const factor = weight();
    for (const { point, scalar } of terms) scalars.set(point, (scalars.get(point) ?? 0n) + factor * scalar);
  }
  const exponents = new Map<Form, bigint>();
  for (const { terms } of forms) {
    const factor = weight();
    for (const { base, exponent } of terms)
      exponents.set(base, (exponents.get(base) ?? 0n) + factor * exponent);
  }
  return {
    points: [...scalars].map(([point, scalar]) => ({ point, scalar })),
    forms: [...exponents].map(([base, exponent]) => ({ base, exponent })),
  };
}

/**
 * Returns the sum of all terms. Not constant-time: for public scalars. All terms share one run of doublings (Straus'
 * method), with scalars in non-adjacent form.
 */
export function pointSum(curve: CurveArithmetic, terms: readonly PointTerm[]): CurvePoint {
  const summands: CurvePoint[][] = [];
  for (const { point, scalar } of terms) {
    // Uses the representative of smaller magnitude: weights and challenges are short, and many are negative.
    const reduced = floorMod(scalar, curve.order);
    const isNegative = 2n * reduced > curve.order;
    const magnitude = isNegative ? curve.order - reduced : reduced;
    const width = magnitude >> 16n === 0n ? 2 : magnitude >> 80n === 0n ? 4 : 5;
    const multiples = oddMultiples(isNegative ? point.negate() : point, 1 << (width - 2));
    for (const { position, digit } of nonAdjacentForm(magnitude, width)) {
      const multiple = multiples[(Math.abs(digit) - 1) / 2]!;
      summands[position] ??= [];
      summands[position].push(digit < 0 ? multiple.negate() : multiple);
    }
  }
  let sum = curve.zero;
  for (let position = summands.length - 1; position >= 0; position--) {
    sum = sum.double();
    for (const summand of summands[position] ?? []) sum = sum.add(summand);
  }
  return sum;
}

/** Returns point, 3 point, 5 point, ... */
function oddMultiples(point: CurvePoint, count: number): CurvePoint[] {
  const multiples = [point];
  if (count === 1) return multiples;
  const twice = point.double();
  while (multiples.length < count) multiples.push(multiples[multiples.length - 1]!.add(twice));
  return multiples;
}
