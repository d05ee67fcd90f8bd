import type { TokenBuckets } from "./coordination.ts";
import { RecentMap } from "./recent-map.ts";
import { type BucketSize, takeToken } from "./token-bucket.ts";

/** Creates a bounded number of token buckets in this process. `now` is a monotonic time in milliseconds. */
export function createMemoryBuckets(size: BucketSize, now: () => number): TokenBuckets {
  const fullAtMs = new RecentMap<string, number>(BUCKETS_MAX_COUNT);
  return {
    async take(subject) {
      const taken = takeToken(size, fullAtMs.get(subject), now());
      fullAtMs.set(subject, taken.fullAtMs);
      return taken;
    },
    async giveBack(subject) {
      const before = fullAtMs.get(subject);
      if (before !== undefined) fullAtMs.set(subject, before - 1_000 / size.perSecond);
    },
  };
}

/** Limits the memory to some megabytes. A caller whose bucket was evicted starts with a full one. */
const BUCKETS_MAX_COUNT = 50_000;
