import { multiPower, type PowerTerm } from "../class-groups/exponentiation.ts";
import { equalForms, type Form } from "../class-groups/forms.ts";
import { absolute, floorMod } from "../class-groups/integers.ts";
import type { Curve, CurvePoint } from "./curve.ts";
import { rejectUnless } from "./rejected-input.ts";

/** scalar * point. */
export interface PointTerm {
  readonly point: CurvePoint;
  readonly scalar: bigint;
}

/** The sum of all terms is the neutral point. */
export interface PointEquation {
  /** What a verdict says if it does not hold. */
  readonly label: string;
  readonly terms: readonly PointTerm[];
}

/** The product of all powers is the neutral class. */
export interface FormEquation {
  readonly label: string;
  readonly terms: readonly PowerTerm[];
}

/** An equation between the first, or the second, forms of ciphertexts. */
export interface PartEquation extends FormEquation {
  readonly part: 0 | 1;
}

/** All that a set of proofs claims, apart from hashes: both groups' equations. */
export interface ProofEquations {
  readonly points: readonly PointEquation[];
  readonly forms: readonly PartEquation[];
}

/** How a verifier computes a product of powers; one with tables of some bases does it faster. */
export type PowerProduct = (terms: readonly PowerTerm[]) => Form;

/** Rejects unless every equation holds, in order, with the label of the first one that does not. */
export function checkEach(
  curve: Curve,
  { points, forms }: ProofEquations,
  product: PowerProduct = (terms) => multiPower(curve.group, terms),
): void {
  for (const { label, terms } of points) rejectUnless(pointSum(curve, terms).equals(curve.zero), label);
  for (const { label, terms } of forms) {
    rejectUnless(equalForms(product(terms), curve.group.identity), label);
  }
}

/**
 * One combination of all equations in each group, which holds if they all hold. Every equation is raised to a random
 * weight of its own, so that a false one passes once in as many draws as there are weights (small orders in the class
 * group aside, which no computation that merely went wrong hits). A base that stands in several equations is raised
 * once.
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

/** The sum of all terms, in a time that depends on the scalars: for public ones. */
export function pointSum(curve: Curve, terms: readonly PointTerm[]): CurvePoint {
  return terms.reduce((sum, { point, scalar }) => {
    // The representative of smaller magnitude: weights and challenges are short, and many are negative.
    const reduced = floorMod(scalar, curve.order);
    const centered = 2n * reduced > curve.order ? reduced - curve.order : reduced;
    return sum.add((centered < 0n ? point.negate() : point).multiplyUnsafe(absolute(centered)));
  }, curve.zero);
}
