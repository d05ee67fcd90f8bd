/**
 * Euclid's algorithm on the leading bits of the operands, many quotients at a time (Lehmer's idea: Knuth, TAOCP 2,
 * 4.5.2, Algorithm L; the test for a certain quotient is due to Collins and Jebelean). A product of classes spends most
 * of its time here.
 *
 * The steps run in WebAssembly, which multiplies 32-bit limbs into 64 bits (`euclid-kernel.wat`). React Native has no
 * WebAssembly, some edge workers compile none at run time, and a page's policy may forbid it: there the steps run on
 * limbs in doubles (`euclid-limbs.ts`). Bases may differ between the two; the classes that follow from them do not.
 */
import { EUCLID_KERNEL } from "../../../gen/wasm/euclid-kernel.ts";
import { type KernelRuntime, openKernel } from "../open-kernel.ts";
import { type Euclid, type LatticeBasis, limbEuclid } from "./euclid-limbs.ts";
import { bitLength } from "./integers.ts";

export { type LatticeBasis, MAX_EUCLID_BITS } from "./euclid-limbs.ts";

/**
 * Starts from the basis (modulus, 0), (root, 1) of the lattice {(r, y) : r = root*y mod modulus} and runs Euclid on
 * the first coordinates until r2 has about `boundBits` bits; r1 keeps more. Near the square root of the modulus both
 * vectors are short (Jacobson and van der Poorten, "Computational aspects of NUCOMP", section 3). r1*y2 - r2*y1 =
 * +modulus or -modulus, and r1 > r2 >= 0. Requires 0 <= root < modulus < 2^{@link MAX_EUCLID_BITS}.
 */
export function partialEuclid(modulus: bigint, root: bigint, boundBits: number): LatticeBasis {
  return euclid().partialEuclid(modulus, root, boundBits);
}

/**
 * Returns [gcd(left, right), v] with v*right = gcd (mod left) and |v| <= left. Requires
 * 0 < right < left < 2^{@link MAX_EUCLID_BITS}.
 */
export function gcdWithCofactor(left: bigint, right: bigint): readonly [bigint, bigint] {
  return euclid().gcdWithCofactor(left, right);
}

let chosen: Euclid | undefined;

function euclid(): Euclid {
  chosen ??= kernelEuclid(globalThis.WebAssembly) ?? limbEuclid;
  return chosen;
}

/** What `euclid-kernel.wat` exports. */
interface Kernel {
  readonly memory: WebAssembly.Memory;
  readonly count: WebAssembly.Global<"i32">;
  readonly cofactorCount: WebAssembly.Global<"i32">;
  readonly isFlipped: WebAssembly.Global<"i32">;
  run(endBits: number): number;
  finish(): number;
}

// The places of the integers in the kernel's memory.
const R0 = 0;
const R1 = 512;
const Y0 = 1024;
const Y1 = 1536;

/** Returns Euclid's algorithm in WebAssembly; undefined if the runtime cannot run it. */
export function kernelEuclid(runtime: KernelRuntime): Euclid | undefined {
  const kernel = openKernel<Kernel>(EUCLID_KERNEL, runtime);
  return kernel === undefined ? undefined : euclidOn(kernel);
}

function euclidOn({ memory, count, cofactorCount, isFlipped, run, finish }: Kernel): Euclid {
  const view = new DataView(memory.buffer);

  return {
    partialEuclid(modulus, root, boundBits) {
      start(modulus, root);
      while (run(boundBits) === 0) {
        const r1 = read(R1, count.value);
        // Far below a long quotient, the leading bits say nothing about the length.
        if (bitLength(r1) <= boundBits || !divideOnce(r1)) break;
      }
      const [r1, r2] = [read(R0, count.value), read(R1, count.value)];
      const [y1, y2] = [read(Y0, cofactorCount.value), read(Y1, cofactorCount.value)];
      return isFlipped.value === 1 ? { r1, r2, y1, y2: -y2 } : { r1, r2, y1: -y1, y2 };
    },
    gcdWithCofactor(left, right) {
      start(left, right);
      while (run(-1) === 0 || finish() === 0) if (!divideOnce(read(R1, count.value))) break;
      const cofactor = read(Y0, cofactorCount.value);
      return [read(R0, count.value), isFlipped.value === 1 ? cofactor : -cofactor];
    },
  };

  function start(left: bigint, right: bigint): void {
    write(R1, right, writeFirst(R0, left, count));
    write(Y0, 0n, writeFirst(Y1, 1n, cofactorCount));
    isFlipped.value = 0;
  }

  /** Takes one step of Euclid with a quotient of any length. Returns false if R1, which is `r1`, is zero. */
  function divideOnce(r1: bigint): boolean {
    if (r1 === 0n) return false;
    const r0 = read(R0, count.value);
    const quotient = r0 / r1;
    const [y0, y1] = [read(Y0, cofactorCount.value), read(Y1, cofactorCount.value)];
    write(R1, r0 - quotient * r1, writeFirst(R0, r1, count));
    write(Y0, y1, writeFirst(Y1, y0 + quotient * y1, cofactorCount));
    isFlipped.value ^= 1;
    return true;
  }

  /** Writes the longer integer of a pair, and its number of limbs. Returns the number of its 64-bit words. */
  function writeFirst(place: number, value: bigint, limbCount: WebAssembly.Global<"i32">): number {
    const words = write(place, value, 1);
    limbCount.value = 2 * words - (view.getUint32(place + 8 * words - 4, true) === 0 ? 1 : 0);
    return words;
  }

  /** Writes an integer, with zeros up to `least` 64-bit words. Returns the number of words. */
  function write(place: number, value: bigint, least: number): number {
    let words = 0;
    for (let rest = value; rest !== 0n; rest >>= WORD_BITS)
      view.setBigUint64(place + 8 * words++, rest, true);
    while (words < least) view.setBigUint64(place + 8 * words++, 0n, true);
    return words;
  }

  /** Reads an integer of `limbs` limbs. */
  function read(place: number, limbs: number): bigint {
    let at = place + 4 * limbs;
    let value = 0n;
    if (limbs % 2 === 1) {
      at -= 4;
      value = BigInt(view.getUint32(at, true));
    }
    while (at > place) {
      at -= 8;
      value = (value << WORD_BITS) | view.getBigUint64(at, true);
    }
    return value;
  }
}

const WORD_BITS = 64n;
