import { ServiceError } from "../errors/service-error.ts";

/**
 * Creates a queue that runs one query at a time, each for up to 256 waiting keys. A query after an idle time starts at
 * once.
 */
export function createLookupQueue<Key>(read: ReadKeys<Key>): LookupQueue<Key> {
  const waiting = new Map<string, Waiting<Key>>();
  const countOf = new Map<string, number>();
  let isRunning = false;
  return {
    async read(hash, from) {
      const joined = waiting.get(hash);
      if (joined !== undefined) return joined.found;
      const count = countOf.get(from) ?? 0;
      if (waiting.size >= WAITING_MAX_COUNT || count >= WAITING_OF_ONE_MAX_COUNT) throw tooMany();
      const entry = waitingFrom<Key>(from);
      waiting.set(hash, entry);
      countOf.set(from, count + 1);
      if (!isRunning) void run();
      return entry.found;
    },
  };

  async function run(): Promise<void> {
    isRunning = true;
    while (waiting.size > 0) {
      await readBatch([...waiting.entries()].slice(0, BATCH_MAX_COUNT));
      await new Promise<void>((resolve) => setTimeout(resolve, PAUSE_MS));
    }
    isRunning = false;
  }

  async function readBatch(batch: readonly (readonly [string, Waiting<Key>])[]): Promise<void> {
    // A later caller must not join this read, which may miss a write that happened in between.
    for (const [hash, { from }] of batch) leave(hash, from);
    try {
      const found = await read(batch.map(([hash]) => hash));
      for (const [hash, entry] of batch) entry.settle(found.get(hash));
    } catch (reason) {
      for (const [, entry] of batch) entry.fail(reason);
    }
  }

  function leave(hash: string, from: string): void {
    waiting.delete(hash);
    const count = (countOf.get(from) ?? 1) - 1;
    if (count === 0) countOf.delete(from);
    else countOf.set(from, count);
  }
}

/** Reads many keys by the hex hashes of their plaintexts. Returns the existing keys by their hash. */
export type ReadKeys<Key> = (hashes: readonly string[]) => Promise<ReadonlyMap<string, Key>>;

/** Looks up unknown keys at a cost that does not grow with their number. */
export interface LookupQueue<Key> {
  /**
   * Reads the key with this hash; undefined if there is none. Look-ups are bounded per `from`, such as an address.
   * Rejects with RATE_LIMITED if too many wait, and with the error of a failed read.
   */
  read(hash: string, from: string): Promise<Key | undefined>;
}

const BATCH_MAX_COUNT = 256;
/** The pause after each query, which bounds them to 50 a second. */
const PAUSE_MS = 20;
/** Waiting look-ups, in total and per origin. */
const WAITING_MAX_COUNT = 1_024;
const WAITING_OF_ONE_MAX_COUNT = 64;

interface Waiting<Key> {
  readonly from: string;
  readonly found: Promise<Key | undefined>;
  settle(found: Key | undefined): void;
  fail(reason: unknown): void;
}

function waitingFrom<Key>(from: string): Waiting<Key> {
  let settle: (found: Key | undefined) => void = () => {};
  let fail: (reason: unknown) => void = () => {};
  const found = new Promise<Key | undefined>((resolve, reject) => {
    settle = resolve;
    fail = reject;
  });
  return { from, found, settle, fail };
}

function tooMany(): ServiceError {
  return new ServiceError("RATE_LIMITED", "too many unknown keys are being tried; try again", {
    retryAfterSeconds: 1,
  });
}
