import type { Random } from "../sim/random.ts";

/** The first bytes of a client (RFC 9113, 3.4). */
export const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Types of frames (RFC 9113, 6). */
export const TYPE = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

/** Flags of frames. ACK belongs to SETTINGS and PING. */
export const FLAG = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

/** A frame: nine bytes of head (RFC 9113, 4.1) and the payload. */
export function frame(
  type: number,
  flags: number,
  streamId: number,
  payload: Buffer,
  length = payload.length,
): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(length & 0xffffff, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(streamId >>> 0, 5);
  return Buffer.concat([head, payload]);
}

export function word(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value >>> 0);
  return bytes;
}

/** SETTINGS: pairs of a two-byte identifier and a four-byte value. */
export function settings(pairs: readonly (readonly [name: number, value: number])[]): Buffer {
  const payload = pairs.map(([name, value]) =>
    Buffer.concat([Buffer.from([name >> 8, name & 0xff]), word(value)]),
  );
  return frame(TYPE.settings, 0, 0, Buffer.concat(payload));
}

/**
 * A header block of literals (HPACK, RFC 7541, 6). Most are not indexed. Some enter the dynamic table, some state a
 * wrong length, and some refer to entries that may not exist.
 */
export function headerBlock(
  random: Random,
  fields: readonly (readonly [name: string, value: string])[],
): Buffer {
  const parts = fields.map(([name, value]) => {
    if (random.happens(0.004)) return Buffer.from([0x80 | random.integer(0, 127)]);
    if (random.happens(0.003)) return Buffer.from([0x20 | random.integer(0, 31)]);
    const form = random.pick([0x00, 0x00, 0x10, 0x40]);
    return Buffer.concat([Buffer.from([form]), literal(random, name), literal(random, value)]);
  });
  return Buffer.concat(parts);
}

function literal(random: Random, text: string): Buffer {
  const bytes = Buffer.from(text, "latin1");
  const huffman = random.happens(0.002) ? 0x80 : 0;
  const length = random.happens(0.002) ? bytes.length + random.integer(-1, 3) : bytes.length;
  return Buffer.concat([integer(Math.max(0, length), 7, huffman), bytes]);
}

/** An integer after a prefix within its first byte (RFC 7541, 5.1). */
function integer(value: number, prefixBits: number, high: number): Buffer {
  const most = 2 ** prefixBits - 1;
  if (value < most) return Buffer.from([high | value]);
  const bytes = [high | most];
  let rest = value - most;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return Buffer.from([...bytes, rest]);
}
