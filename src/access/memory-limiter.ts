import { RateLimiterCompatibleAbstract, RateLimiterRes } from "rate-limiter-flexible";
import { RecentMap } from "./recent-map.ts";
import { type BucketSize, takeToken } from "./token-bucket.ts";

/** Some megabytes at the most. Whoever is forgotten begins with a full bucket. */
const BUCKETS_MAX_COUNT = 50_000;

/**
 * Token buckets of one size in this process, of bounded memory. A limiter as `rate-limiter-flexible` takes them, so
 * that it can stand in for Redis: `consume` resolves for a call that may go on, and rejects with a RateLimiterRes else.
 */
export class MemoryLimiter extends RateLimiterCompatibleAbstract {
  // The library sets both on what stands in for Redis; neither applies here.
  override blockDuration = 0;
  override execEvenly = false;
  readonly #size: BucketSize;
  readonly #now: () => number;
  readonly #fullAtMs = new RecentMap<string, number>(BUCKETS_MAX_COUNT);

  constructor(size: BucketSize, now: () => number) {
    super();
    this.#size = size;
    this.#now = now;
  }

  /** How many buckets are known. */
  get bucketCount(): number {
    return this.#fullAtMs.size;
  }

  override async consume(key: string): Promise<RateLimiterRes> {
    const taken = takeToken(this.#size, this.#fullAtMs.get(key), this.#now());
    this.#fullAtMs.set(key, taken.fullAtMs);
    const { burstCount } = this.#size;
    const consumedCount = taken.isAllowed ? burstCount - taken.remainingCount : burstCount + 1;
    const result = new RateLimiterRes(taken.remainingCount, Math.ceil(taken.waitMs), consumedCount);
    if (taken.isAllowed) return result;
    // oxlint-disable-next-line typescript/only-throw-error -- the library tells refusals from failures by the class
    throw result;
  }
}
