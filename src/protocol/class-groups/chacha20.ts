/**
 * The first `length` bytes of the ChaCha20 key stream for a 32-byte key, with nonce and counter zero (RFC 8439,
 * section 2.3; the original 64-bit counter and the RFC's 32-bit one agree on the first 256 GB).
 * Throws a RangeError if the key has another length.
 */
export function chacha20KeyStream(key: Uint8Array, length: number): Uint8Array {
  if (key.length !== 32) throw new RangeError("a ChaCha20 key has 32 bytes");
  const view = new DataView(key.buffer, key.byteOffset, key.byteLength);
  const initial = new Uint32Array(16);
  initial.set([0x61707865, 0x3320646e, 0x79622d32, 0x6b206574]);
  for (let word = 0; word < 8; word++) initial[4 + word] = view.getUint32(4 * word, true);
  const stream = new Uint8Array(Math.ceil(length / 64) * 64);
  for (let block = 0; 64 * block < length; block++) {
    initial[12] = block;
    writeBlock(initial, new DataView(stream.buffer, 64 * block, 64));
  }
  return stream.subarray(0, length);
}

function writeBlock(initial: Uint32Array, output: DataView): void {
  const state = Uint32Array.from(initial);
  for (let doubleRound = 0; doubleRound < 10; doubleRound++) {
    for (const [a, b, c, d] of QUARTER_ROUNDS) quarterRound(state, a, b, c, d);
  }
  for (let word = 0; word < 16; word++) output.setUint32(4 * word, state[word]! + initial[word]!, true);
}

/** Columns, then diagonals. */
const QUARTER_ROUNDS = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const;

function quarterRound(state: Uint32Array, a: number, b: number, c: number, d: number): void {
  for (const [left, right] of [
    [16, 12],
    [8, 7],
  ] as const) {
    state[a]! += state[b]!;
    state[d] = rotateLeft(state[d]! ^ state[a]!, left);
    state[c]! += state[d]!;
    state[b] = rotateLeft(state[b]! ^ state[c]!, right);
  }
}

function rotateLeft(word: number, bits: number): number {
  return (word << bits) | (word >>> (32 - bits));
}
