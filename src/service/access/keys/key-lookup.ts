import { createLocalSignals } from "../../platform/coordination/local-coordination.ts";
import { RecentMap } from "../../platform/coordination/recent-map.ts";
import type { Signals } from "../../platform/coordination/signals.ts";
import {
  type API_KEY_TOPICS,
  type IDENTITY_PROVIDER_TOPICS,
  type KEY_KINDS,
  topics,
} from "../../platform/coordination/topics.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { batchCalls } from "../../platform/store/batch-statements.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { hashApiKey } from "./api-key.ts";

/**
 * Creates a look-up of keys in the database that caches results for a few seconds. Keys that were valid at their last
 * look-up share statements with each other. All other keys share a bounded number of queries, so that a caller that
 * guesses keys does not delay valid ones. The database's clock decides whether a key has expired; the cache only
 * measures elapsed time.
 */
export function createKeyLookup<Key extends KeyStanding & { readonly id: string }>(
  options: KeyLookupOptions<Key>,
): KeyLookup<Key> {
  const { isForm, read, noteUse, kind, makers = [], signals = createLocalSignals(), onLookup, log } = options;
  const { now = () => performance.now(), ownerOf = ({ id }) => id } = options;
  const { rememberedMaxCount = REMEMBERED_MAX_COUNT } = options;
  const queue = createLookupQueue(read);
  const readGood = batchCalls<string, Key | undefined>({
    subjectOf: (hash) => {
      const known = good.get(hash)?.key;
      return known === undefined ? hash : ownerOf(known);
    },
    async run(hashes) {
      const found = await read([...new Set(hashes)]);
      return hashes.map((hash) => found.get(hash));
    },
  });
  /** Keys that were valid. A stale entry stays, so that its key is read again without queueing behind unknown ones. */
  const good = new RecentMap<string, { readonly key: Key; untilMs: number; readonly notedMs: number }>(
    rememberedMaxCount,
  );
  /** Invalid keys stay invalid: nobody knows a key before its creation, and no key is reactivated. */
  const refused = new RecentMap<string, { readonly key: Key | undefined; readonly untilMs: number }>(
    rememberedMaxCount,
  );
  let forgottenCount = 0;
  const dropWhere = (isMeant: (key: Key) => boolean) => {
    forgottenCount++;
    for (const [, entry] of good) if (isMeant(entry.key)) entry.untilMs = 0;
  };
  const drop = (keyId: string) => dropWhere(({ id }) => id === keyId);
  signals.subscribeKind(kind, drop);
  for (const maker of makers)
    signals.subscribeKind(maker.kind, (makerId) => dropWhere((key) => maker.idOf(key) === makerId));

  const recall = (hash: string) => {
    const known = good.get(hash);
    if (known === undefined || known.untilMs <= now()) return undefined;
    onLookup?.("hit");
    return known.key;
  };

  async function lookUp(hash: string, from: string): Promise<Key | undefined> {
    const forgottenBefore = forgottenCount;
    // Counts from before the read, so that a key is never cached too long.
    const beganMs = now();
    const key = good.get(hash) ? await readGood(hash) : await queue.read(hash, from);
    if (key === undefined || key.isRevoked || key.isExpired) {
      good.delete(hash);
      refused.set(hash, { key, untilMs: beganMs + REMEMBERED_MS });
      return key;
    }
    // A read that overlaps a change may return the earlier state.
    const isCurrent = forgottenCount === forgottenBefore;
    const rememberedMs = Math.min(REMEMBERED_MS, key.leftMs ?? REMEMBERED_MS);
    const lastNotedMs = good.get(hash)?.notedMs ?? Number.NEGATIVE_INFINITY;
    const isDue = now() - lastNotedMs >= NOTED_MS;
    const notedMs = isDue ? now() : lastNotedMs;
    good.set(hash, { key, untilMs: isCurrent ? beganMs + rememberedMs : 0, notedMs });
    if (!isDue) return key;
    noteUse(key.id).catch((cause: unknown) =>
      log.warn({ keyId: key.id, cause }, "could not record the last use of a key"),
    );
    return key;
  }

  return {
    recall: (plaintext) => (isForm(plaintext) ? recall(nameOf(plaintext)) : undefined),
    async find(plaintext, from = "") {
      if (!isForm(plaintext)) return undefined;
      const hash = nameOf(plaintext);
      const known = recall(hash);
      if (known !== undefined) return known;
      const before = refused.get(hash);
      if (before !== undefined && before.untilMs > now()) {
        onLookup?.("hit");
        return before.key;
      }
      onLookup?.("miss");
      return lookUp(hash, from);
    },
    forget(keyId) {
      drop(keyId);
      signals.notify(topics.key(kind, keyId));
    },
  };
}

/** Decides whether a key is valid, by the database's clock at the time of the read. */
export interface KeyStanding {
  readonly isRevoked: boolean;
  readonly isExpired: boolean;
  /** Milliseconds from the read to the key's expiry; null for a key that does not expire. */
  readonly leftMs: number | null;
  readonly expiresAt: Date | null;
}

/** Finds keys by their plaintext. */
export interface KeyLookup<Key> {
  /**
   * Finds a key, including a revoked or expired one; undefined if it is unknown. Concurrent look-ups are bounded per
   * `from`, such as an address. Rejects with RATE_LIMITED beyond that bound, which does not apply to keys that were
   * valid at their last look-up; of those, it rejects with DATABASE_UNAVAILABLE if too many wait for the database.
   */
  find(plaintext: string, from?: string): Promise<Key | undefined>;
  /** Returns the cached key if it was valid recently, without querying the database. */
  recall(plaintext: string): Key | undefined;
  /** Evicts a key from the cache, here at once and in other replicas when they receive the signal. */
  forget(keyId: string): void;
}

export interface KeyLookupOptions<Key> {
  /** Returns true if the text has the form of such a key. */
  readonly isForm: (plaintext: string) => boolean;
  readonly read: ReadKeys<Key>;
  /** Records that the key is in use. */
  readonly noteUse: (keyId: string) => Promise<unknown>;
  /** The kind of these keys in the signals between replicas. */
  readonly kind: (typeof KEY_KINDS)[number];
  /** Returns the owner of a key, whose look-ups take turns with those of others. Default: the key itself. */
  readonly ownerOf?: (key: Key) => string;
  /** What made these keys, by the kind of its signals. Its changes may end them. Default: none. */
  readonly makers?: readonly KeyMaker<Key>[];
  /** Signals between replicas. Default: none, so that others notice a change after a few seconds. */
  readonly signals?: Signals | undefined;
  readonly log: Log;
  /** Called for each look-up: "hit" for a cached result, "miss" for one that queries the database. */
  readonly onLookup?: ((result: "hit" | "miss") => void) | undefined;
  /** A monotonic clock in milliseconds. Default: the clock of the process. */
  readonly now?: (() => number) | undefined;
  /** The number of valid keys that stay in memory, and of invalid ones. Default: 10,000. */
  readonly rememberedMaxCount?: number | undefined;
}

/** A kind of object that makes keys. */
export interface KeyMaker<Key> {
  readonly kind: typeof API_KEY_TOPICS | typeof IDENTITY_PROVIDER_TOPICS;
  /** Returns the id of the object that made the key; null if none of this kind did. */
  readonly idOf: (key: Key) => string | null;
}

/** How long a stale cached key may still be accepted after another process has changed it. */
const REMEMBERED_MS = 5_000;
export const REMEMBERED_MAX_COUNT = 10_000;
/** The interval at which a process records the use of a key. The database stores it once a minute. */
const NOTED_MS = 30_000;

function nameOf(plaintext: string): string {
  return Buffer.from(hashApiKey(plaintext)).toString("hex");
}

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
