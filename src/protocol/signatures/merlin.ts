import { uint32ToLittleEndian } from "../bytes.ts";
import { permuteKeccak } from "./keccak.ts";

/** Starts a transcript under a domain separator. */
export function createTranscript(label: string): MerlinTranscript {
  const strobe = createStrobe(utf8("Merlin v1.0"));
  const frame = (name: string, length: number): void => {
    strobe.metaAd(labelBytes(name), false);
    strobe.metaAd(uint32ToLittleEndian(length), true);
  };
  const transcript: MerlinTranscript = {
    append(name, message) {
      const bytes = typeof message === "string" ? utf8(message) : message;
      frame(name, bytes.length);
      strobe.ad(bytes);
      return transcript;
    },
    challenge(name, length) {
      frame(name, length);
      return strobe.prf(length);
    },
    mark: () => strobe.mark(),
  };
  return transcript.append("dom-sep", label);
}

/** A Merlin transcript (merlin.cool). It frames every message and challenge with its label and length. */
export interface MerlinTranscript {
  /** Absorbs a message; a string is encoded in UTF-8. Returns the transcript. */
  append(label: string, message: Uint8Array | string): MerlinTranscript;
  /** Squeezes `length` bytes that depend on everything absorbed before. */
  challenge(label: string, length: number): Uint8Array;
  /** Saves the current state. Each call of the returned function restores it. */
  mark(): () => void;
}

/** The labels are constants of the protocol. A Fischlin proof uses three of them thousands of times. */
const LABELS = new Map<string, Uint8Array>();

function labelBytes(label: string): Uint8Array {
  let bytes = LABELS.get(label);
  if (bytes === undefined) {
    bytes = utf8(label);
    LABELS.set(label, bytes);
  }
  return bytes;
}

function utf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

const ENCODER = new TextEncoder();

/** Starts STROBE-128/1600 with a protocol label. */
export function createStrobe(label: Uint8Array): Strobe {
  const state = new Uint8Array(200);
  state.set([1, RATE + 2, 1, 0, 1, 96]);
  state.set(new TextEncoder().encode("STROBEv1.0.2"), 6);
  let position = 0;
  let begin = 0;
  permuteKeccak(state);

  const permute = (): void => {
    state[position]! ^= begin;
    state[position + 1]! ^= 0x04;
    state[RATE + 1]! ^= 0x80;
    permuteKeccak(state);
    position = 0;
    begin = 0;
  };
  const absorb = (data: Uint8Array): void => {
    // A local variable is much faster than a captured one.
    let at = position;
    for (let index = 0; index < data.length; index++) {
      state[at]! ^= data[index]!;
      if (++at < RATE) continue;
      position = at;
      permute();
      at = 0;
    }
    position = at;
  };
  const open = (flags: number): void => {
    const previous = begin;
    begin = position + 1;
    absorb(Uint8Array.of(previous, flags));
    if ((flags & FLAG_C) !== 0 && position !== 0) permute();
  };
  const metaAd = (data: Uint8Array, more: boolean): void => {
    if (!more) open(FLAG_M | FLAG_A);
    absorb(data);
  };

  metaAd(label, false);
  return {
    metaAd,
    ad(data) {
      open(FLAG_A);
      absorb(data);
    },
    prf(length) {
      open(FLAG_I | FLAG_A | FLAG_C);
      const output = new Uint8Array(length);
      for (let index = 0; index < length; index++) {
        output[index] = state[position]!;
        state[position++] = 0;
        if (position === RATE) permute();
      }
      return output;
    },
    mark() {
      const [markedState, markedPosition, markedBegin] = [state.slice(), position, begin];
      return () => {
        state.set(markedState);
        position = markedPosition;
        begin = markedBegin;
      };
    },
  };
}

/** The part of STROBE-128 that Merlin uses (strobe.sourceforge.io, version 1.0.2; merlin.cool, "STROBE"). */
export interface Strobe {
  /** Absorbs public framing. With `more`, continues the previous operation. */
  metaAd(data: Uint8Array, more: boolean): void;
  ad(data: Uint8Array): void;
  /** Squeezes `length` pseudo-random bytes. */
  prf(length: number): Uint8Array;
  /** Saves the current state. Each call of the returned function restores it. */
  mark(): () => void;
}

/** In bytes: 1600 bits of state minus twice the 128 bits of security, minus two bytes of padding. */
const RATE = 166;
const FLAG_I = 1;
const FLAG_A = 2;
const FLAG_C = 4;
const FLAG_M = 16;
