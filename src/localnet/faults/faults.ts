import { setTimeout as sleep } from "node:timers/promises";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { blake2b256 } from "../fullnode/bytes.ts";
import { type FaultSettings, NO_FAULTS } from "./fault-settings.ts";

/** What goes wrong now, and the dice for it. */
export interface Faults {
  readonly settings: FaultSettings;
  /** Changes these settings and leaves the others. */
  set(settings: Partial<FaultSettings>): void;
  /** Throws the dice. Under one seed the n-th throw is always the same. */
  happens(probability: number): boolean;
  /** `baseMs` and up to `jitterMs` more. */
  duration(baseMs: number, jitterMs: number): number;
  /** Waits for so long. */
  pause(durationMs: number): Promise<void>;
  /** Calls back after each change of the settings. */
  onChange(listener: () => void): void;
}

/** Faults with dice that follow from the seed. `pause` is how they wait; default by the time of this machine. */
export function createFaults(
  seed: Uint8Array,
  initial: Partial<FaultSettings> = {},
  pause: Faults["pause"] = pauseUnref,
): Faults {
  let settings: FaultSettings = { ...NO_FAULTS, ...initial };
  const listeners: (() => void)[] = [];
  const random = dice(seed);
  return {
    get settings() {
      return settings;
    },
    set(changes) {
      settings = { ...settings, ...changes };
      for (const listener of listeners) listener();
    },
    // No throw is used up by what is off, so that switching one fault on leaves the others' order alone.
    happens: (probability) => probability > 0 && random() < probability,
    duration: (baseMs, jitterMs) => baseMs + (jitterMs > 0 ? random() * jitterMs : 0),
    pause,
    onChange(listener) {
      listeners.push(listener);
    },
  };
}

/** The node itself keeps the process; one that has closed does not wait for an answer that nobody gets. */
async function pauseUnref(durationMs: number): Promise<void> {
  await sleep(durationMs, undefined, { ref: false });
}

/** Numbers from 0 to 1 (without 1): xorshift32 from a hash of the seed. */
function dice(seed: Uint8Array): () => number {
  const start = blake2b256(utf8ToBytes("ika-localnet/faults/"), seed);
  let state = new DataView(start.buffer, start.byteOffset).getUint32(0) || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) / 2 ** 32;
  };
}
