/**
 * Writes the permutation Keccak-f[1600] (FIPS 202, section 3) as WebAssembly text, with one round unrolled. The 25 lanes
 * are locals within the rounds: loops over lanes in memory are six times slower.
 */

const ROUND_COUNT = 24;
/** The place of the round constants in memory, after the 200 bytes of the state. */
const CONSTANTS = 256;

/** Returns the text of a module that exports its memory and `permute`, which permutes the state at 0. */
export function keccakKernel(): string {
  const constants = roundConstants().flatMap((constant) => littleEndian(constant));
  return [
    "(module",
    '(memory (export "memory") 1)',
    `(data (i32.const ${CONSTANTS}) "${constants.map((byte) => `\\${byte.toString(16).padStart(2, "0")}`).join("")}")`,
    '(func (export "permute") (local $round i32) (local $d i64)',
    ...lanes((at) => `(local $a${at} i64) (local $b${at} i64)`),
    ...columns((x) => `(local $c${x} i64)`),
    ...lanes((at) => `(local.set $a${at} (i64.load offset=${8 * at} (i32.const 0)))`),
    "(loop $rounds",
    ...round(),
    "(local.set $round (i32.add (local.get $round) (i32.const 8)))",
    `(br_if $rounds (i32.lt_u (local.get $round) (i32.const ${8 * ROUND_COUNT}))))`,
    ...lanes((at) => `(i64.store offset=${8 * at} (i32.const 0) (local.get $a${at}))`),
    "))",
  ].join("\n");
}

/** Lane (x, y) is $a(x + 5y). */
function round(): string[] {
  const lane = (x: number, y: number) => `(local.get $a${(x % 5) + 5 * y})`;
  const moved = (x: number, y: number) => `(local.get $b${(x % 5) + 5 * y})`;
  const rotations = laneRotations();
  const thetaRhoPi = columns((x) => [
    `(local.set $d ${xor(`(local.get $c${(x + 4) % 5})`, rotate(`(local.get $c${(x + 1) % 5})`, 1))})`,
    ...columns((y) => {
      const value = rotate(xor(lane(x, y), "(local.get $d)"), rotations[x + 5 * y]!);
      return `(local.set $b${y + 5 * ((2 * x + 3 * y) % 5)} ${value})`;
    }),
  ]);
  const chiIota = columns((y) =>
    columns((x) => {
      const next = `(i64.and ${xor(moved(x + 1, y), "(i64.const -1)")} ${moved(x + 2, y)})`;
      const chi = xor(moved(x, y), next);
      const isFirst = x === 0 && y === 0;
      return `(local.set $a${x + 5 * y} ${isFirst ? xor(chi, `(i64.load offset=${CONSTANTS} (local.get $round))`) : chi})`;
    }),
  );
  return [
    ...columns(
      (x) => `(local.set $c${x} ${[1, 2, 3, 4].reduce((sum, y) => xor(sum, lane(x, y)), lane(x, 0))})`,
    ),
    ...thetaRhoPi.flat(),
    ...chiIota.flat(),
  ];
}

function xor(left: string, right: string): string {
  return `(i64.xor ${left} ${right})`;
}

function rotate(value: string, bits: number): string {
  return `(i64.rotl ${value} (i64.const ${bits}))`;
}

function columns<T>(write: (x: number) => T): T[] {
  return [0, 1, 2, 3, 4].map(write);
}

function lanes(write: (at: number) => string): string[] {
  return Array.from({ length: 25 }, (_, at) => write(at));
}

/** The offsets of rho (FIPS 202, section 3.2.2), by lane. */
function laneRotations(): number[] {
  const rotations = Array<number>(25).fill(0);
  let [x, y] = [1, 0];
  for (let t = 0; t < 24; t++) {
    rotations[x + 5 * y] = (((t + 1) * (t + 2)) / 2) % 64;
    [x, y] = [y, (2 * x + 3 * y) % 5];
  }
  return rotations;
}

/** The constants of iota: the bits of a linear feedback shift register (FIPS 202, section 3.2.5). */
function roundConstants(): bigint[] {
  let register = 1;
  return Array.from({ length: ROUND_COUNT }, () => {
    let constant = 0n;
    for (let j = 0; j <= 6; j++) {
      if ((register & 1) === 1) constant |= 1n << BigInt(2 ** j - 1);
      register = (register << 1) ^ ((register >> 7) * 0x171);
    }
    return constant;
  });
}

function littleEndian(value: bigint): number[] {
  return Array.from({ length: 8 }, (_, at) => Number((value >> BigInt(8 * at)) & 0xffn));
}
