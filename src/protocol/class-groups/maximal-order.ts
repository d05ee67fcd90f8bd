import { gcdWithCofactor, partialEuclid } from "./euclid.ts";
import {
  composeCoprime,
  composeForms,
  coprimeRepresentative,
  type Form,
  type FormGroup,
  oriented,
  reduceForm,
  reduceOn,
  squareCoprime,
} from "./forms.ts";
import { bitLength, floorMod } from "./integers.ts";

/**
 * The classes of discriminant D q^2, computed with forms of discriminant D = -p*q: three quarters of the length.
 *
 * They are the classes of an order O in the maximal order O_K with O = Z + q O_K. Each contains I = (g J) n O for an
 * ideal J of O_K and a number g of O_K, both prime to q, and J and g modulo q determine the class (Cox, "Primes of the
 * form x^2 + n y^2", section 7; Hühnlein et al., Eurocrypt '98). As q divides D, the square of sqrt(D) is zero modulo q,
 * and g is u + v*sqrt(D) with u and v modulo q. Rational factors of g do not matter. So a class is a form for J with the
 * pair (u, v). A product of ideals J1 J2 is reduced by dividing it by one of its numbers, the first vector of the short
 * basis, and that number becomes a factor of g.
 */
export interface OrderClass extends Form {
  readonly u: bigint;
  readonly v: bigint;
}

/** The class group of discriminant D*q^2 with the one of D = -p*q, for an odd prime q. */
export interface OrderGroup extends FormGroup {
  readonly q: bigint;
  readonly maximal: FormGroup;
}

/** The class of the identity. */
export function neutralClass({ maximal }: OrderGroup): OrderClass {
  return { ...maximal.identity, u: 1n, v: 0n };
}

/** Returns whether a class is the identity. The pair (0, 0), which only a fault makes, is no class, whatever it meets. */
export function isNeutralClass({ q }: OrderGroup, { a, u, v }: OrderClass): boolean {
  return a === 1n && v % q === 0n && u % q !== 0n;
}

/** Returns whether two classes are equal, whatever their representations. */
export function equalClasses(group: OrderGroup, left: OrderClass, right: OrderClass): boolean {
  return isNeutralClass(group, composeClasses(group, left, invertClass(right)));
}

/** Returns the inverse class: the conjugate. */
export function invertClass({ a, b, c, u, v }: OrderClass): OrderClass {
  return { a, b: -b, c, u, v: -v };
}

/** Returns the product of two classes. */
export function composeClasses(group: OrderGroup, left: OrderClass, right: OrderClass): OrderClass {
  const { q, maximal } = group;
  let u = left.u * right.u;
  let v = left.u * right.v + left.v * right.u;
  if (left.a === 1n) return { a: right.a, b: right.b, c: right.c, u: u % q, v: v % q };
  if (right.a === 1n) return { a: left.a, b: left.b, c: left.c, u: u % q, v: v % q };
  const { form, inverse, x, y } = coprimeRepresentative(left.a, right, q);
  if (y !== 0n) {
    // The ideal of `right` is the representative's times the number a*x + y*(b + sqrt(D))/2, here doubled.
    const factor = 2n * right.a * x + right.b * y;
    v = (u * y + v * factor) % q;
    u = (u * factor) % q;
  }
  return onBasis(group, composeCoprime(maximal, left, form, inverse), form, u, v);
}

/** Returns the square of a class. */
export function squareClass(group: OrderGroup, one: OrderClass): OrderClass {
  const square = squareCoprime(group.maximal, one);
  if (square === undefined) return composeClasses(group, one, one);
  return onBasis(group, square, one, one.u * one.u, 2n * one.u * one.v);
}

/**
 * Multiplies u + v*sqrt(D) by the number by which the product of two ideals was divided: a*r + y*(b + sqrt(D))/2, here
 * doubled, for the second ideal's form (a, b, c) and the first vector (r, y) of the product's basis. u and v need not be
 * reduced.
 */
function onBasis(
  { q }: OrderGroup,
  { a, b, c, r1, r2, y1, y2 }: ReturnType<typeof composeCoprime>,
  second: Form,
  u: bigint,
  v: bigint,
): OrderClass {
  const factor = (2n * second.a * r1 + second.b * y1) % q;
  if (factor !== 0n) return { a, b, c, u: (u * factor) % q, v: (u * y1 + v * factor) % q };
  // Then q divides a, and does not divide c: use the second vector.
  const other = (2n * second.a * r2 + second.b * y2) % q;
  return { a: c, b: -b, c: a, u: (u * other) % q, v: (u * y2 + v * other) % q };
}

/** Returns the class of a form of discriminant D*q^2. Throws a RangeError for a form that is not primitive. */
export function toMaximalOrder({ q, maximal }: OrderGroup, form: Form): OrderClass {
  const { form: prime, inverse } = coprimeRepresentative(q, form);
  const modulus = 2n * prime.a;
  // The inverse of q modulo 2a follows from that of 2a modulo q. The ideal is Za + Z(b + sqrt(D))/2, with b over q.
  const inverseOfQ = (1n - modulus * ((inverse * ((q + 1n) / 2n)) % q)) / q;
  const middle = floorMod(prime.b * inverseOfQ, modulus);
  // Its numbers are (r + y sqrt(D))/2 with r = b*y mod 2a.
  const { discriminant } = maximal;
  const boundBits = (bitLength(modulus) >> 1) + maximal.boundBits;
  const basis = oriented(partialEuclid(modulus, middle, boundBits));
  const { r1, r2, y1, y2 } = basis;
  const a = (r1 * r1 - discriminant * y1 * y1) / (2n * modulus);
  const b = (r1 * r2 - discriminant * y1 * y2) / modulus;
  const reduced = reduceOn(a, b, (b * b - discriminant) / (4n * a), basis);
  if (reduced.r1 % q !== 0n) {
    return { a: reduced.a, b: reduced.b, c: reduced.c, u: reduced.r1 % q, v: reduced.y1 % q };
  }
  return { a: reduced.c, b: -reduced.b, c: reduced.a, u: reduced.r2 % q, v: reduced.y2 % q };
}

/** Returns the reduced form of discriminant D*q^2 of a class. */
export function fromMaximalOrder(group: OrderGroup, { a, b, u, v }: OrderClass): Form {
  const { q, discriminant } = group;
  // The form of J n O.
  const middle = b * q;
  const lifted = reduceForm(a, middle, (middle * middle - discriminant) / (4n * a));
  const residue = floorMod(v, q);
  if (residue === 0n) return lifted;
  // The class of 1 + (v/u) sqrt(D) is that of the form (q^2, -(u/v)*q, ...).
  const ratio = floorMod(-u * gcdWithCofactor(q, residue)[1], q);
  const odd = (ratio % 2n === 1n ? ratio : ratio - q) * q;
  const unit = reduceForm(q * q, odd, (odd * odd - discriminant) / (4n * q * q));
  return composeForms(group, lifted, unit);
}
