import type { BucketSize, TokenBuckets } from "./coordination.ts";
import type { RedisClient } from "./open-redis.ts";

/** Creates token buckets that processes share through Redis. If Redis does not decide in time, this process decides. */
export function createRedisBuckets({ client, size, prefix, insurance }: RedisBucketsOptions): TokenBuckets {
  client.defineCommand(COMMAND, { numberOfKeys: 1, lua: TAKE_TOKEN });
  client.defineCommand(GIVE_BACK, { numberOfKeys: 1, lua: GIVE_BACK_TOKEN });
  const { burstCount, perSecond } = size;
  const fillSeconds = burstCount / perSecond;
  return {
    async take(subject) {
      // Without a connection, the command would fail anyway, only later.
      if (client.status !== "ready") return insurance.take(subject);
      try {
        const run = (client as unknown as TokenClient)[COMMAND];
        const [allowed, remainingCount, waitMs] = await run.call(
          client,
          prefix + subject,
          burstCount,
          fillSeconds,
        );
        return { isAllowed: allowed === 1, remainingCount, waitMs };
      } catch {
        return insurance.take(subject);
      }
    },
    async giveBack(subject) {
      if (client.status !== "ready") return insurance.giveBack(subject);
      try {
        await (client as unknown as TokenClient)[GIVE_BACK].call(
          client,
          prefix + subject,
          burstCount,
          fillSeconds,
        );
      } catch {
        // The bucket fills again with time.
      }
    },
  };
}

export interface RedisBucketsOptions {
  readonly client: RedisClient;
  readonly size: BucketSize;
  /** The prefix of each key. With one prefix, a subject must always have buckets of the same size. */
  readonly prefix: string;
  /** Decides while Redis is unavailable. */
  readonly insurance: TokenBuckets;
}

const COMMAND = "takeToken";
const GIVE_BACK = "giveBackToken";

/**
 * A client after `defineCommand`. It sends the script's digest, and the script itself only if Redis does not know it.
 */
type TokenClient = Record<
  typeof COMMAND | typeof GIVE_BACK,
  (key: string, burstCount: number, fillSeconds: number) => Promise<[number, number, number]>
>;

/**
 * The script of `takeToken`, which uses the clock of Redis because all processes share it. Arguments: the bucket's size
 * and the seconds in which it fills. Returns whether a token was taken, how many are left, and the milliseconds to
 * wait. A key expires when its bucket is full. Times are in microseconds, which a double holds exactly.
 */
const TAKE_TOKEN = `
local burst = tonumber(ARGV[1])
local capacity = tonumber(ARGV[2]) * 1e6
local token = capacity / burst
local time = redis.call('TIME')
local now = time[1] * 1e6 + time[2]
local before = math.max(tonumber(redis.call('GET', KEYS[1]) or now), now)
local after = before + token
local excess = after - now - capacity
if excess >= 1 then
  return {0, 0, math.ceil(excess / 1e3)}
end
local wait = math.ceil((after - now) / 1e3)
redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', wait)
return {1, burst - math.ceil((after - now) / token - 1e-6), wait}`;

/** The script of `giveBackToken`, with the arguments of {@link TAKE_TOKEN}. A bucket that is full again needs no key. */
const GIVE_BACK_TOKEN = `
local token = tonumber(ARGV[2]) * 1e6 / tonumber(ARGV[1])
local time = redis.call('TIME')
local now = time[1] * 1e6 + time[2]
local after = tonumber(redis.call('GET', KEYS[1]) or now) - token
if after <= now then
  redis.call('DEL', KEYS[1])
else
  redis.call('SET', KEYS[1], string.format('%.0f', after), 'PX', math.ceil((after - now) / 1e3))
end
return {1, 0, 0}`;
