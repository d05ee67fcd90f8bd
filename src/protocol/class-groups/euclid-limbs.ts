/**
 * Euclid's algorithm on 26-bit limbs in doubles, for runtimes without WebAssembly (`euclid-wasm.ts` is about twice as
 * fast). A step finds a matrix with entries below 2^26 from the leading 53 bits, in floating point, and applies it in
 * place: a product of a limb and an entry fits a double. BigInt takes about twice as long, because it allocates the
 * result of every operation. For the method see `euclid.ts`.
 */

/** Euclid's algorithm for class groups. `euclid.ts` says what its functions return. */
export interface Euclid {
  partialEuclid(modulus: bigint, root: bigint, boundBits: number): LatticeBasis;
  gcdWithCofactor(left: bigint, right: bigint): readonly [bigint, bigint];
}

/** Two vectors (r1, y1), (r2, y2). */
export interface LatticeBasis {
  readonly r1: bigint;
  readonly r2: bigint;
  readonly y1: bigint;
  readonly y2: bigint;
}

/** The operands' size: 3,000 bits, more than twice what the protocol needs. */
export const MAX_EUCLID_BITS = 3000;

/** Euclid's algorithm on limbs in doubles. */
export const limbEuclid: Euclid = { partialEuclid, gcdWithCofactor };

function partialEuclid(modulus: bigint, root: bigint, boundBits: number): LatticeBasis {
  start(modulus, root);
  while (!runLimbs(boundBits) && divideOnce());
  const [r1, r2] = [toBigInt(R0, length), toBigInt(R1, length)];
  const magnitude = toBigInt(Y0, cofactorLength);
  const [y1, volume] = isFlipped ? [magnitude, -modulus] : [-magnitude, modulus];
  // Dividing the determinant is faster than reading the limbs.
  return { r1, r2, y1, y2: (volume + r2 * y1) / r1 };
}

function gcdWithCofactor(left: bigint, right: bigint): readonly [bigint, bigint] {
  start(left, right);
  for (;;) {
    if (runLimbs(-1)) break;
    if (!divideOnce()) return [toBigInt(R0, length), signed(toBigInt(Y0, cofactorLength))];
  }
  // Neither operands nor cofactors exceed 52 bits.
  let [x, y] = [R0[1]! * RADIX + R0[0]!, R1[1]! * RADIX + R1[0]!];
  let [a, b, c, d] = [1, 0, 0, 1];
  while (y !== 0) {
    const quotient = Math.floor(x / y);
    [x, y] = [y, x - quotient * y];
    [a, c] = [c, a - quotient * c];
    [b, d] = [d, b - quotient * d];
  }
  // The cofactors of the limbs are magnitudes, and their signs differ.
  const [y0, y1] = [toBigInt(Y0, cofactorLength), toBigInt(Y1, cofactorLength)];
  return [BigInt(x), signed(BigInt(a) * y0 - BigInt(b) * y1)];
}

const LIMB_BITS = 26;
const RADIX = 2 ** LIMB_BITS;
const INVERSE_RADIX = 2 ** -LIMB_BITS;
const LIMB_COUNT = Math.ceil((MAX_EUCLID_BITS + 64) / LIMB_BITS) + 2;

// The state of a run is in module variables, so that nothing is allocated. A run never yields.
/** The remainders, without sign: `length` limbs, at least two. */
const R0 = new Float64Array(LIMB_COUNT);
const R1 = new Float64Array(LIMB_COUNT);
/** The magnitudes of the cofactors. */
const Y0 = new Float64Array(LIMB_COUNT);
const Y1 = new Float64Array(LIMB_COUNT);
let length = 0;
let cofactorLength = 0;
/** The cofactors of R0 and R1 have the signs - and +, or if flipped + and -. */
let isFlipped = false;

/** A step's matrix, as magnitudes [a, b, c, d]. */
const step = new Float64Array(4);

function start(left: bigint, right: bigint): void {
  length = fromBigInt(left, R0, 2);
  fromBigInt(right, R1, length);
  Y0[0] = 0;
  Y1[0] = 1;
  cofactorLength = 1;
  isFlipped = false;
}

const signed = (firstCofactor: bigint): bigint => (isFlipped ? firstCofactor : -firstCofactor);

/**
 * Takes steps until R1 has at most about `endBits` bits, or R0 has two limbs. Returns false if it stops earlier because
 * a quotient is too long for a step, or R1 is zero.
 */
function runLimbs(endBits: number): boolean {
  let count = length;
  let cofactorCount = cofactorLength;
  let isOver = true;
  while (count > 2) {
    const top = R0[count - 1]!;
    const topBits = 32 - Math.clz32(top);
    // 53 bits of R0, and the same positions of R1.
    const up = POWERS[27 - topBits]!;
    const down = 2 / POWERS[topBits]!;
    const x = (top * RADIX + R0[count - 2]!) * up + Math.floor(R0[count - 3]! * down);
    const y = (R1[count - 1]! * RADIX + R1[count - 2]!) * up + Math.floor(R1[count - 3]! * down);
    const endShift = endBits - (LIMB_BITS * (count - 1) + topBits - 53);
    const end = endShift > 0 ? 2 ** endShift : 1;
    const parity = findStep(x, y, end);
    if (parity === 0) {
      isOver = (endShift > 0 && y - 1 <= end) || (y === 0 && bitLengthOf(R1, count) <= endBits);
      break;
    }
    const [a, b, c, d] = [step[0]!, step[1]!, step[2]!, step[3]!];
    if (parity > 0) applyStep(R0, R1, count, a, -b, -c, d);
    else {
      applyStep(R0, R1, count, -a, b, c, -d);
      isFlipped = !isFlipped;
    }
    while (R0[count - 1] === 0) count--;
    if (applyStep(Y0, Y1, cofactorCount, a, b, c, d)) cofactorCount++;
  }
  length = count;
  cofactorLength = cofactorCount;
  return isOver;
}

const POWERS = Float64Array.from({ length: 28 }, (_, index) => 2 ** index);

/**
 * Runs Euclid on (x, y), the leading 53 bits of two long integers, while the quotients certainly equal theirs and their
 * smaller remainder certainly exceeds `end`. Stores the matrix in `step`. Returns 1 after an even number of quotients,
 * when the signs of the matrix are + - and - +, -1 after an odd number, when they are - + and + -, and 0 if there were
 * no quotients.
 */
function findStep(x0: number, y0: number, end: number): number {
  let [x, y] = [x0, y0];
  let [a, b, c, d] = [1, 0, 0, 1];
  let parity = 1;
  // The error of y is below the larger cofactor, d.
  while (y - d > end) {
    const quotient = Math.floor(x / y);
    const nextY = x - quotient * y;
    const nextC = a + quotient * c;
    const nextD = b + quotient * d;
    // The certain quotients alone would allow entries of up to 26.5 bits.
    if (nextD >= RADIX) break;
    const isCertain =
      parity > 0 ? nextY >= nextD && y - nextY >= nextC + c : nextY >= nextC && y - nextY >= nextD + d;
    if (!isCertain) break;
    x = y;
    y = nextY;
    a = c;
    b = d;
    c = nextC;
    d = nextD;
    parity = -parity;
  }
  step[0] = a;
  step[1] = b;
  step[2] = c;
  step[3] = d;
  return b === 0 ? 0 : parity;
}

/**
 * Replaces (left, right) by (a left + b right, c left + d right), which are not negative. Their limbs, a sum of two
 * products and a carry, stay below 2^53. Stores a last carry as a new limb and returns whether it is not zero.
 */
function applyStep(
  left: Float64Array,
  right: Float64Array,
  count: number,
  a: number,
  b: number,
  c: number,
  d: number,
): boolean {
  let carryLeft = 0;
  let carryRight = 0;
  for (let index = 0; index < count; index++) {
    const x = left[index]!;
    const y = right[index]!;
    const sumLeft = a * x + b * y + carryLeft;
    const sumRight = c * x + d * y + carryRight;
    carryLeft = Math.floor(sumLeft * INVERSE_RADIX);
    carryRight = Math.floor(sumRight * INVERSE_RADIX);
    left[index] = sumLeft - carryLeft * RADIX;
    right[index] = sumRight - carryRight * RADIX;
  }
  left[count] = carryLeft;
  right[count] = carryRight;
  return carryLeft !== 0 || carryRight !== 0;
}

/** Takes one step of Euclid with a quotient of any length. Returns false if R1 is zero. */
function divideOnce(): boolean {
  const [r0, r1] = [toBigInt(R0, length), toBigInt(R1, length)];
  if (r1 === 0n) return false;
  const quotient = r0 / r1;
  const sum = toBigInt(Y0, cofactorLength) + quotient * toBigInt(Y1, cofactorLength);
  Y0.set(Y1.subarray(0, cofactorLength));
  const before = cofactorLength;
  cofactorLength = fromBigInt(sum, Y1, before);
  Y0.fill(0, before, cofactorLength);
  length = fromBigInt(r1, R0, 2);
  fromBigInt(r0 - quotient * r1, R1, length);
  isFlipped = !isFlipped;
  return true;
}

function bitLengthOf(limbs: Float64Array, count: number): number {
  let used = count;
  while (used > 0 && limbs[used - 1] === 0) used--;
  return used === 0 ? 0 : LIMB_BITS * used - Math.clz32(limbs[used - 1]!) + 32 - LIMB_BITS;
}

const words = new DataView(new ArrayBuffer(8 * LIMB_COUNT));

/** Writes the limbs of an integer, at least `count` of them. Returns their number without leading zeros, or `count`. */
function fromBigInt(value: bigint, limbs: Float64Array, count: number): number {
  let bytes = 0;
  for (let rest = value; rest !== 0n; rest >>= 64n) {
    words.setBigUint64(bytes, rest, true);
    bytes += 8;
  }
  words.setBigUint64(bytes, 0n, true);
  const used = Math.ceil((8 * bytes) / LIMB_BITS);
  for (let index = 0, bit = 0; index < used; index++, bit += LIMB_BITS) {
    const at = (bit >>> 5) << 2;
    const low = words.getUint32(at, true) >>> (bit & 31);
    const high = (words.getUint32(at + 4, true) << 1) << (31 - (bit & 31));
    limbs[index] = (low | high) & (RADIX - 1);
  }
  let end = used;
  while (end < count) limbs[end++] = 0;
  while (end > count && limbs[end - 1] === 0) end--;
  return end;
}

/** Reads an integer from its limbs. */
function toBigInt(limbs: Float64Array, count: number): bigint {
  let at = 0;
  let word = 0;
  let bits = 0;
  for (let index = 0; index < count; index++) {
    const limb = limbs[index]!;
    word |= limb << bits;
    bits += LIMB_BITS;
    if (bits < 32) continue;
    words.setUint32(at, word, true);
    at += 4;
    bits -= 32;
    word = limb >>> (LIMB_BITS - bits);
  }
  words.setUint32(at, word, true);
  words.setUint32(at + 4, 0, true);
  let value = 0n;
  for (let byte = at - (at % 8); byte >= 0; byte -= 8) {
    value = (value << WORD_BITS) | words.getBigUint64(byte, true);
  }
  return value;
}

const WORD_BITS = 64n;
