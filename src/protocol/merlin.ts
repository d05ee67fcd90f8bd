import { uint32ToLittleEndian } from "./bytes.ts";
import { createStrobe } from "./strobe.ts";

/** Starts a transcript under a domain separator. */
export function createTranscript(label: string): MerlinTranscript {
  const strobe = createStrobe(utf8("Merlin v1.0"));
  const frame = (name: string, length: number): void => {
    strobe.metaAd(utf8(name), false);
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

function utf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

const ENCODER = new TextEncoder();
