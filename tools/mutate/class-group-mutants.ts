import type { Mutant } from "./mutant.ts";

const EUCLID = ["test/unit/protocol/class-groups/euclid.test.ts"];
const FORMS = ["test/unit/protocol/class-groups/forms.test.ts"];
const ORDER = ["test/unit/protocol/class-groups/maximal-order.test.ts"];
const POINTS = ["test/unit/protocol/proofs/equations.test.ts"];

/** Lines that keep the fast arithmetic of classes and points equal to the plain one. */
export const CLASS_GROUP_MUTANTS: readonly Mutant[] = [
  {
    name: "a quotient is taken from leading bits that do not determine it",
    file: "src/protocol/class-groups/euclid-limbs.ts",
    find: "    if (!isCertain) break;\n",
    replace: "",
    tests: EUCLID,
  },
  {
    name: "a cofactor loses its highest limb",
    file: "src/protocol/class-groups/euclid-limbs.ts",
    find: "left[count] = carryLeft;",
    replace: "left[count] = 0;",
    tests: EUCLID,
  },
  {
    name: "a quotient that is too long for a limb is skipped",
    file: "src/protocol/class-groups/euclid-limbs.ts",
    find: "if (r1 === 0n) return false;",
    replace: "if (r1 >= 0n) return false;",
    tests: EUCLID,
  },
  {
    name: "the cofactors keep their signs after an odd number of quotients",
    file: "src/protocol/class-groups/euclid-limbs.ts",
    find: "      applyStep(R0, R1, count, -a, b, c, -d);\n      isFlipped = !isFlipped;",
    replace: "      applyStep(R0, R1, count, -a, b, c, -d);",
    tests: EUCLID,
  },
  {
    name: "the kernel's cofactors keep their signs after an odd number of quotients",
    file: "src/protocol/class-groups/euclid.ts",
    find: "isFlipped.value === 1 ? cofactor : -cofactor",
    replace: "isFlipped.value === 2 ? cofactor : -cofactor",
    tests: EUCLID,
  },
  {
    name: "the kernel's basis is divided below the bound after a long quotient",
    file: "src/protocol/class-groups/euclid.ts",
    find: "if (bitLength(r1) <= boundBits || !divideOnce(r1)) break;",
    replace: "if (!divideOnce(r1)) break;",
    tests: EUCLID,
  },
  {
    name: "the kernel reads limbs of an earlier, longer integer",
    file: "src/protocol/class-groups/euclid.ts",
    find: "while (words < least)",
    replace: "while (words < 1)",
    tests: EUCLID,
  },
  {
    name: "a product of forms has the class of the opposite orientation",
    file: "src/protocol/class-groups/forms.ts",
    find: "return y2 > y1 ? basis : { r1, r2: -r2, y1, y2: -y2 };",
    replace: "return basis;",
    tests: FORMS,
  },
  {
    name: "a representative shares a divisor with the modulus",
    file: "src/protocol/class-groups/forms.ts",
    find: "if (gcd === 1n) return { form: equivalent",
    replace: "if (gcd > 0n) return { form: equivalent",
    tests: FORMS,
  },
  {
    name: "two classes with different encoded scalars are equal",
    file: "src/protocol/class-groups/maximal-order.ts",
    find: "return a === 1n && v % q === 0n && u % q !== 0n;",
    replace: "return a === 1n && q > v && u % q !== 0n;",
    tests: ORDER,
  },
  {
    name: "a product that lost its residue passes the half's own check",
    file: "src/protocol/class-groups/maximal-order.ts",
    find: "return a === 1n && v % q === 0n && u % q !== 0n;",
    replace: "return a === 1n && v % q === 0n;",
    tests: ["test/isolated/client/crypto/own-half-faults.test.ts"],
  },
  {
    name: "a product forgets the number by which it was divided",
    file: "src/protocol/class-groups/maximal-order.ts",
    find: "v: (u * y1 + v * factor) % q };",
    replace: "v: (v * factor) % q };",
    tests: ORDER,
  },
  {
    name: "a product forgets the number of its second factor's representative",
    file: "src/protocol/class-groups/maximal-order.ts",
    find: "    v = (u * y + v * factor) % q;\n",
    replace: "",
    tests: ORDER,
  },
  {
    name: "a class keeps a residue that its ideal makes zero",
    file: "src/protocol/class-groups/maximal-order.ts",
    find: "if (factor !== 0n) return",
    replace: "if (factor >= -q) return",
    tests: ORDER,
  },
  {
    name: "a class leaves the maximal order without its encoded scalar",
    file: "src/protocol/class-groups/maximal-order.ts",
    find: "if (residue === 0n) return lifted;",
    replace: "if (residue >= 0n) return lifted;",
    tests: ORDER,
  },
  {
    name: "a sum of points adds the terms with negative scalars",
    file: "src/protocol/proofs/equations.ts",
    find: "oddMultiples(isNegative ? point.negate() : point,",
    replace: "oddMultiples(point,",
    tests: POINTS,
  },
];
