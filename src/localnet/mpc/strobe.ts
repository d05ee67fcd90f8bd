import { keccakP } from "@noble/hashes/sha3.js";

/** The part of STROBE that Merlin uses: absorb meta and associated data, squeeze pseudo-random bytes. */
export interface Strobe {
  metaAd(data: Uint8Array, more: boolean): void;
  ad(data: Uint8Array): void;
  prf(length: number): Uint8Array;
}

/** STROBE-128 over Keccak-f[1600] (strobe.sourceforge.io/specs, v1.0.2, section 5), opened with a protocol label. */
export function strobe(label: string): Strobe {
  const state = new Uint8Array(200);
  state.set([1, RATE + 2, 1, 0, 1, 96]);
  state.set(new TextEncoder().encode("STROBEv1.0.2"), 6);
  const words = new Uint32Array(state.buffer);
  keccakP(words, 24);
  let position = 0;
  let begin = 0;

  const runF = (): void => {
    state[position]! ^= begin;
    state[position + 1]! ^= 0x04;
    state[RATE + 1]! ^= 0x80;
    keccakP(words, 24);
    position = 0;
    begin = 0;
  };
  const absorb = (data: Uint8Array): void => {
    for (const byte of data) {
      state[position++]! ^= byte;
      if (position === RATE) runF();
    }
  };
  const beginOperation = (flags: number): void => {
    const previous = begin;
    begin = position + 1;
    absorb(Uint8Array.of(previous, flags));
    if ((flags & FLAG_C) !== 0 && position !== 0) runF();
  };
  const strobe: Strobe = {
    metaAd: (data, more) => {
      if (!more) beginOperation(FLAG_M | FLAG_A);
      absorb(data);
    },
    ad: (data) => {
      beginOperation(FLAG_A);
      absorb(data);
    },
    prf: (length) => {
      beginOperation(FLAG_I | FLAG_A | FLAG_C);
      const output = new Uint8Array(length);
      for (let index = 0; index < length; index++) {
        output[index] = state[position]!;
        state[position++] = 0;
        if (position === RATE) runF();
      }
      return output;
    },
  };
  strobe.metaAd(new TextEncoder().encode(label), false);
  return strobe;
}

/** Bytes absorbed between permutations: 200 - 2 * 128/8 - 2. */
const RATE = 166;
const FLAG_I = 1;
const FLAG_A = 2;
const FLAG_C = 4;
const FLAG_M = 16;
