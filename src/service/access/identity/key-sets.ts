import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from "jose";
import { RecentMap } from "../../platform/coordination/recent-map.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import { DownloadsBusy, type KeySetFetch } from "./fetch-key-set.ts";

/**
 * Creates a bounded cache of key sets by provider. A set is used for ten minutes. A token with an unknown `kid` causes a
 * new download, at most one in thirty seconds for each provider however many tokens arrive, and callers share a running
 * download. While the provider does not answer, the last set is used for an hour in total. So a key that the provider
 * withdraws is refused after at most an hour, and after ten minutes if the provider answers. Providers at one URL share
 * no set: one that is deleted and added again has another id, and begins without the keys of the former one.
 */
export function createKeySets({ fetch, log, now = () => performance.now() }: KeySetsOptions): KeySets {
  const entries = new RecentMap<string, Entry>(PROVIDERS_MAX_COUNT);

  function entryOf(providerId: string): Entry {
    const entry = entries.get(providerId) ?? {
      known: undefined,
      triedAtMs: Number.NEGATIVE_INFINITY,
      running: undefined,
    };
    entries.set(providerId, entry);
    return entry;
  }

  /** Downloads a set unless one is running or was tried a moment ago. */
  function refresh(url: string, entry: Entry): Promise<void> {
    if (entry.running !== undefined) return entry.running;
    if (now() - entry.triedAtMs < RETRY_MS) return Promise.resolve();
    entry.triedAtMs = now();
    const startedAtMs = now();
    entry.running = fetch(url)
      .then(
        (set) => {
          entry.known = { set, find: createLocalJWKSet(set), readAtMs: startedAtMs };
        },
        (cause: unknown) => {
          // Nobody asked this provider, so made-up tokens for others do not keep its keys away for a while.
          if (cause instanceof DownloadsBusy) entry.triedAtMs = Number.NEGATIVE_INFINITY;
          else log.warn({ url, cause }, "could not read the keys of an identity provider");
        },
      )
      .finally(() => {
        entry.running = undefined;
      });
    return entry.running;
  }

  const usable = ({ known }: Entry, maxAgeMs: number) =>
    known !== undefined && now() - known.readAtMs < maxAgeMs ? known : undefined;

  return {
    async find({ id, url }, kid) {
      const entry = entryOf(id);
      const fresh = usable(entry, FRESH_MS);
      if (fresh !== undefined && hasKey(fresh.set, kid)) return fresh.find;
      await refresh(url, entry);
      return usable(entry, STALE_MAX_MS)?.find;
    },
  };
}

/** Finds the key sets of providers. */
export interface KeySets {
  /**
   * Returns the keys at a provider's URL, downloaded again if there is none with this `kid`; undefined if the provider does not
   * answer and no recent set is known. Never rejects. Waits no longer than a download takes.
   */
  find(provider: KeySource, kid: string | undefined): Promise<LocalJWKSet | undefined>;
}

/** A provider's id, and the URL of its keys, which never changes. */
export interface KeySource {
  readonly id: string;
  readonly url: string;
}

export interface KeySetsOptions {
  readonly fetch: KeySetFetch;
  readonly log: Log;
  /** A monotonic clock in milliseconds. Default: the clock of the process. */
  readonly now?: () => number;
}

interface Entry {
  known: { readonly set: JSONWebKeySet; readonly find: LocalJWKSet; readonly readAtMs: number } | undefined;
  triedAtMs: number;
  running: Promise<void> | undefined;
}

/** A set has at most 64 KiB, so all of them have at most 32 MiB. */
const PROVIDERS_MAX_COUNT = 512;
const FRESH_MS = 10 * 60_000;
const STALE_MAX_MS = 60 * 60_000;
const RETRY_MS = 30_000;

function hasKey({ keys }: JSONWebKeySet, kid: string | undefined): boolean {
  return kid === undefined || keys.some((key) => key.kid === kid);
}
