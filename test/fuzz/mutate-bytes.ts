import type { Random } from "../sim/random.ts";

const NASTY_BYTES = [0, 1, 0x7f, 0x80, 0xff, 10, 13, 32, 37, 43, 47, 58, 0x2e];
const MOST_CHANGES = 4;

/** Mutates the bytes up to four times: bits, bytes, lengths, or parts that are removed, duplicated or moved. */
export function mutateBytes(random: Random, bytes: Buffer): Buffer {
  let out = Buffer.from(bytes);
  for (let count = random.integer(1, MOST_CHANGES); count > 0 && out.length > 0; count--) {
    const at = random.integer(0, out.length - 1);
    const to = Math.min(out.length, at + random.integer(1, random.pick([1, 4, 64, out.length])));
    const changes = [
      () => (out[at] = out[at]! ^ (1 << random.integer(0, 7))),
      () => (out[at] = random.pick(NASTY_BYTES)),
      () => (out[at] = random.integer(0, 255)),
      () => (out = Buffer.concat([out.subarray(0, at), out.subarray(to)])),
      () => (out = Buffer.concat([out.subarray(0, to), out.subarray(at)])),
      () => (out = out.subarray(0, at)),
      () => (out = Buffer.concat([out.subarray(0, at), randomBytes(random, 8), out.subarray(at)])),
      () => out.length - at >= 4 && out.writeUInt32BE(random.pick([0, 1, 2 ** 31 - 1, 2 ** 32 - 1]), at),
    ];
    random.pick(changes)();
  }
  return out;
}

/** Random bytes up to this length. */
export function randomBytes(random: Random, mostCount: number): Buffer {
  return Buffer.from(Array.from({ length: random.integer(0, mostCount) }, () => random.integer(0, 255)));
}

/** Splits the bytes into pieces, usually into one. */
export function splitBytes(random: Random, bytes: Buffer): Buffer[] {
  if (random.happens(0.6)) return [bytes];
  const writes: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const to = at + random.integer(1, random.pick([1, 7, 30, 2_000]));
    writes.push(bytes.subarray(at, writes.length < 60 ? to : bytes.length));
    at += writes.at(-1)!.length;
  }
  return writes;
}
