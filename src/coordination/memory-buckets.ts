import type { TokenBuckets } from "./coordination.ts";
import { RecentMap } from "./recent-map.ts";
import { type BucketSize, takeToken } from "./token-bucket.ts";

/** Token buckets in this process, of bounded number. `now` is in milliseconds that only grow. */
export function createMemoryBuckets(size: BucketSize, now: () => number): TokenBuckets {
  const fullAtMs = new RecentMap<string, number>(BUCKETS_MAX_COUNT);
  return {
    async take(subject) {
      const taken = takeToken(size, fullAtMs.get(subject), now());
      fullAtMs.set(subject, taken.fullAtMs);
      return taken;
    },
  };
}

/** Bounds the memory to some megabytes. A caller whose bucket was dropped begins with a full one. */
const BUCKETS_MAX_COUNT = 50_000;
