import type { Form, FormGroup } from "../../../src/protocol/class-groups/forms.ts";
import { extendedGcd, floorDivide, floorMod } from "../../../src/protocol/class-groups/integers.ts";

/** Composes any two forms (Gauss; Cohen, Algorithm 5.4.7): the plain, slow reference of the fast compositions. */
export function composeFormsPlainly(group: FormGroup, left: Form, right: Form): Form {
  const half = (left.b + right.b) / 2n;
  const [gcd0, u, v] = extendedGcd(left.a, right.a);
  const [gcd, x, y] = extendedGcd(gcd0, half);
  const a = (left.a * right.a) / (gcd * gcd);
  const numerator =
    x * u * left.a * right.b + x * v * right.a * left.b + y * ((left.b * right.b + group.discriminant) / 2n);
  const b = floorMod(numerator / gcd, 2n * a);
  return reduceFormPlainly(a, b, (b * b - group.discriminant) / (4n * a));
}

/** Reduces a positive definite form (Gauss; Cohen, Algorithm 5.4.2). */
function reduceFormPlainly(a: bigint, b: bigint, c: bigint): Form {
  let [ra, rb, rc] = [a, b, c];
  for (;;) {
    if (rb <= -ra || rb > ra) {
      const step = floorDivide(ra - rb, 2n * ra);
      rc += step * (rb + step * ra);
      rb += 2n * step * ra;
    }
    if (ra < rc || (ra === rc && rb >= 0n)) return { a: ra, b: rb, c: rc };
    [ra, rb, rc] = [rc, -rb, ra];
  }
}

/** Raises a form by square and multiply with the plain composition. */
export function powerFormPlainly(group: FormGroup, base: Form, exponent: bigint): Form {
  const magnitude = exponent < 0n ? -exponent : exponent;
  const factor = exponent < 0n ? composeFormsPlainly(group, { ...base, b: -base.b }, group.identity) : base;
  let power = group.identity;
  for (const bit of magnitude.toString(2)) {
    power = composeFormsPlainly(group, power, power);
    if (bit === "1") power = composeFormsPlainly(group, power, factor);
  }
  return power;
}

/** All reduced primitive forms of a small discriminant, which are the whole class group by definition. */
export function allForms(discriminant: bigint): Form[] {
  const forms: Form[] = [];
  for (let a = 1n; 3n * a * a <= -discriminant; a++) {
    for (let b = -a + 1n; b <= a; b++) {
      const dividend = b * b - discriminant;
      const c = dividend / (4n * a);
      if (dividend % (4n * a) !== 0n || c < a || (a === c && b < 0n)) continue;
      const content = extendedGcd(extendedGcd(a, b)[0], c)[0];
      if (content === 1n) forms.push({ a, b, c });
    }
  }
  return forms;
}
