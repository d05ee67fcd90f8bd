import { createLocalSignals } from "../coordination/local-signals.ts";
import { RecentMap } from "../coordination/recent-map.ts";
import type { Signals } from "../coordination/signals.ts";
import { type KEY_KINDS, topics } from "../coordination/topics.ts";
import { hashApiKey } from "./api-key.ts";

/** Finds keys by their plaintext. */
export interface KeyLookup<Key> {
  /** The key, revoked and expired ones too; undefined if it is not known. */
  find(plaintext: string): Promise<Key | undefined>;
  /** The key if it was found a moment ago, so that nobody need be asked. */
  recall(plaintext: string): Key | undefined;
  /** Drops what is remembered of a key, here at once and in other replicas as soon as they hear of it. */
  forget(keyId: string): void;
}

/** What the lookup needs. */
export interface KeyLookupOptions<Key> {
  /** Whether the text looks like such a key. */
  readonly isForm: (plaintext: string) => boolean;
  /** By the hash of the plaintext. */
  readonly read: (hash: Uint8Array) => Promise<Key | undefined>;
  /** Notes that the key is in use. */
  readonly noteUse: (keyId: string) => Promise<unknown>;
  /** What replicas call such keys when one was changed. */
  readonly kind: (typeof KEY_KINDS)[number];
  /** Between replicas. Default: others forget a key by themselves, after a few seconds. */
  readonly signals?: Pick<Signals, "notify" | "subscribeKind"> | undefined;
  readonly log: { warn(fields: object, message: string): void };
  /** Told of each look-up, whether the database had to be asked. */
  readonly onLookup?: ((result: "hit" | "miss") => void) | undefined;
  /** Milliseconds since the epoch. Default: the clock. */
  readonly now?: (() => number) | undefined;
}

/** For so long a key may be taken as it was that another process changed without this one hearing of it. */
const REMEMBERED_MS = 5_000;
const REMEMBERED_MAX_COUNT = 10_000;

/**
 * Looks keys up in the database and remembers those that exist for a few seconds. Unknown keys are not remembered,
 * so that a key works as soon as it is made.
 */
export function createKeyLookup<Key extends { readonly id: string }>(
  options: KeyLookupOptions<Key>,
): KeyLookup<Key> {
  const {
    isForm,
    read,
    noteUse,
    kind,
    signals = createLocalSignals(),
    onLookup,
    log,
    now = Date.now,
  } = options;
  const remembered = new RecentMap<string, { readonly key: Key; readonly untilMs: number }>(
    REMEMBERED_MAX_COUNT,
  );
  let forgottenCount = 0;
  const drop = (keyId: string) => {
    forgottenCount++;
    for (const [name, { key }] of remembered) if (key.id === keyId) remembered.delete(name);
  };
  signals.subscribeKind(kind, drop);
  const recall = (name: string) => {
    const known = remembered.get(name);
    if (known === undefined || known.untilMs <= now()) return undefined;
    onLookup?.("hit");
    return known.key;
  };
  return {
    recall: (plaintext) => (isForm(plaintext) ? recall(nameOf(hashApiKey(plaintext))) : undefined),
    async find(plaintext) {
      if (!isForm(plaintext)) return undefined;
      const hash = hashApiKey(plaintext);
      const name = nameOf(hash);
      const known = recall(name);
      if (known !== undefined) return known;
      onLookup?.("miss");
      const forgottenBefore = forgottenCount;
      const key = await read(hash);
      if (key === undefined) {
        remembered.delete(name);
        return undefined;
      }
      // What was read while a key was changed may be older than the change.
      if (forgottenCount === forgottenBefore) remembered.set(name, { key, untilMs: now() + REMEMBERED_MS });
      noteUse(key.id).catch((cause: unknown) => log.warn({ keyId: key.id, cause }, "last use not noted"));
      return key;
    },
    forget(keyId) {
      drop(keyId);
      signals.notify(topics.key(kind, keyId));
    },
  };
}

function nameOf(hash: Uint8Array): string {
  return Buffer.from(hash).toString("base64");
}
