import type { Redis } from "ioredis";
import { RateLimiterRedis } from "rate-limiter-flexible";
import type { MemoryLimiter } from "./memory-limiter.ts";
import type { BucketSize } from "./token-bucket.ts";

/** What {@link createRedisLimiter} needs. */
export interface RedisLimiterOptions extends BucketSize {
  readonly client: Redis;
  /** Before each key; other limiters have others. */
  readonly keyPrefix: string;
  /** Decides while Redis does not. */
  readonly insurance: MemoryLimiter;
}

/** Token buckets of one size that processes share through Redis. */
export function createRedisLimiter(options: RedisLimiterOptions): RateLimiterRedis {
  return new RateLimiterRedis({
    storeClient: options.client,
    keyPrefix: options.keyPrefix,
    points: options.burstCount,
    duration: options.burstCount / options.perSecond,
    customIncrTtlLuaScript: TAKE_TOKEN,
    // A call is decided here at once while there is no connection.
    rejectIfRedisNotReady: true,
    insuranceLimiter: options.insurance,
  });
}

/**
 * `takeToken` in Redis, by the clock of Redis, which all processes share. The library gives the key, and as ARGV 3 and 4
 * the bucket's size and the seconds in which it fills; it wants what was consumed, above the size for a refusal, and
 * milliseconds. A key lives until its bucket is full. Microseconds are whole numbers that a double holds.
 */
const TAKE_TOKEN = `
local burst = tonumber(ARGV[3])
local capacity = tonumber(ARGV[4]) * 1e6
local token = capacity / burst
local time = redis.call('TIME')
local now = time[1] * 1e6 + time[2]
local before = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = before + token
local excess = after - now - capacity
if excess >= 1 then
  return {burst + 1, math.ceil(excess / 1e3)}
end
local wait = math.ceil((after - now) / 1e3)
redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', wait)
return {math.ceil((after - now) / token - 1e-6), wait}`;
