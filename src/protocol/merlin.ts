import { uint32ToLittleEndian } from "./bytes.ts";
import { createStrobe } from "./strobe.ts";

/** A Merlin transcript (merlin.cool): every message and challenge is framed by its label and length. */
export interface MerlinTranscript {
  /** Adds a message; a string is taken as UTF-8. Returns the transcript. */
  append(label: string, message: Uint8Array | string): MerlinTranscript;
  /** Draws `length` bytes that depend on everything before. */
  challenge(label: string, length: number): Uint8Array;
  /** Remembers where it stands; each call of what is returned takes it back there. */
  mark(): () => void;
}

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

function utf8(text: string): Uint8Array {
  return ENCODER.encode(text);
}

const ENCODER = new TextEncoder();
