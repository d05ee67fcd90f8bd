import { setTimeout as sleep } from "node:timers/promises";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { blake2b256 } from "../fullnode/bytes.ts";
import { type FaultSettings, NO_FAULTS } from "./fault-settings.ts";

/** Creates faults with random draws derived from the seed. `pause` waits for delays; default: in real time. */
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
    // A disabled fault draws nothing, so enabling one fault does not change the order of the others' draws.
    happens: (probability) => probability > 0 && random() < probability,
    duration: (baseMs, jitterMs) => baseMs + (jitterMs > 0 ? random() * jitterMs : 0),
    pause,
    onChange(listener) {
      listeners.push(listener);
    },
  };
}

/** The current fault settings and the random draws for them. */
export interface Faults {
  readonly settings: FaultSettings;
  /** Changes these settings and keeps the others. */
  set(settings: Partial<FaultSettings>): void;
  /** Returns true with this probability. The n-th draw under one seed is always the same. */
  happens(probability: number): boolean;
  /** Returns `baseMs` plus a random part of `jitterMs`. */
  duration(baseMs: number, jitterMs: number): number;
  pause(durationMs: number): Promise<void>;
  /** Calls back after each change of the settings. */
  onChange(listener: () => void): void;
}

/** The timer is unreferenced: the server keeps the process alive, and a closed server need not wait for a delay. */
async function pauseUnref(durationMs: number): Promise<void> {
  await sleep(durationMs, undefined, { ref: false });
}

/** Returns a generator of numbers in [0, 1): xorshift32, started from a hash of the seed. */
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
