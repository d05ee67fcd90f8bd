import { createLocalSignals } from "../coordination/local-signals.ts";
import { RecentMap } from "../coordination/recent-map.ts";
import type { Signals } from "../coordination/signals.ts";
import { type KEY_KINDS, topics } from "../coordination/topics.ts";
import type { Log } from "../telemetry/log.ts";
import { hashApiKey } from "./api-key.ts";
import { createLookupQueue, type ReadKeys } from "./lookup-queue.ts";

/**
 * Looks keys up in the database and remembers for a few seconds how they were. A key that was good when it was last
 * looked up is read by itself; all others share a bounded number of queries, so that a caller that tries keys holds up
 * nobody's good one. Whether a key is revoked or has expired is the database's word; here time only passes.
 */
export function createKeyLookup<Key extends KeyStanding & { readonly id: string }>(
  options: KeyLookupOptions<Key>,
): KeyLookup<Key> {
  const { isForm, read, noteUse, kind, signals = createLocalSignals(), onLookup, log } = options;
  const { now = () => performance.now() } = options;
  const queue = createLookupQueue(read);
  /** Keys that were good. They stay when their time is over: then they are read again, ahead of unknown ones. */
  const good = new RecentMap<string, { readonly key: Key; untilMs: number }>(REMEMBERED_MAX_COUNT);
  /** What is not good does not become so: no key is known before it is made, and none is revived. */
  const refused = new RecentMap<string, { readonly key: Key | undefined; readonly untilMs: number }>(
    REMEMBERED_MAX_COUNT,
  );
  let forgottenCount = 0;
  const drop = (keyId: string) => {
    forgottenCount++;
    for (const [, entry] of good) if (entry.key.id === keyId) entry.untilMs = 0;
  };
  signals.subscribeKind(kind, drop);

  const recall = (hash: string) => {
    const known = good.get(hash);
    if (known === undefined || known.untilMs <= now()) return undefined;
    onLookup?.("hit");
    return known.key;
  };

  async function lookUp(hash: string, from: string): Promise<Key | undefined> {
    const forgottenBefore = forgottenCount;
    // Measures the remaining time from before the read, so that a key is never cached too long.
    const beganMs = now();
    const key = good.get(hash) ? (await read([hash])).get(hash) : await queue.read(hash, from);
    if (key === undefined || key.isRevoked || key.isExpired) {
      good.delete(hash);
      refused.set(hash, { key, untilMs: beganMs + REMEMBERED_MS });
      return key;
    }
    // A read that overlaps a change may return the state before it.
    const isCurrent = forgottenCount === forgottenBefore;
    const rememberedMs = Math.min(REMEMBERED_MS, key.leftMs ?? REMEMBERED_MS);
    good.set(hash, { key, untilMs: isCurrent ? beganMs + rememberedMs : 0 });
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

/** The facts that decide whether a key is valid, by the database's clock when the key was read. */
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
   * Finds a key, also a revoked or expired one; undefined if it is unknown. Look-ups of unknown keys are bounded per
   * `from`, such as an address. Rejects with RATE_LIMITED beyond that bound; it does not apply to keys that were valid
   * before.
   */
  find(plaintext: string, from?: string): Promise<Key | undefined>;
  /** The cached key if it was valid recently, without asking the database. */
  recall(plaintext: string): Key | undefined;
  /** Drops the cached key, here at once and in other replicas when they receive the signal. */
  forget(keyId: string): void;
}

export interface KeyLookupOptions<Key> {
  /** Whether the text looks like such a key. */
  readonly isForm: (plaintext: string) => boolean;
  readonly read: ReadKeys<Key>;
  /** Notes that the key is in use. */
  readonly noteUse: (keyId: string) => Promise<unknown>;
  /** What replicas call such keys when one was changed. */
  readonly kind: (typeof KEY_KINDS)[number];
  /** Between replicas. Default: others forget a key by themselves, after a few seconds. */
  readonly signals?: Pick<Signals, "notify" | "subscribeKind"> | undefined;
  readonly log: Pick<Log, "warn">;
  /** Told of each look-up, whether the database had to be asked. */
  readonly onLookup?: ((result: "hit" | "miss") => void) | undefined;
  /** Milliseconds that only grow, whatever is done to the clock. Default: the process's own. */
  readonly now?: (() => number) | undefined;
}

/** For so long a key may be taken as it was that another process changed without this one hearing of it. */
const REMEMBERED_MS = 5_000;
const REMEMBERED_MAX_COUNT = 10_000;

function nameOf(plaintext: string): string {
  return Buffer.from(hashApiKey(plaintext)).toString("hex");
}
