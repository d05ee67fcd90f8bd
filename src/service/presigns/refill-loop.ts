import { drainingSince } from "../chain/network-drain.ts";
import type { SignPrice, TreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { TreasuryBalances } from "../chain/treasury/treasury-state.ts";
import { idleRestMs, type Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import {
  type BackgroundLoop,
  createBackgroundLoop,
  type PassResult,
} from "../platform/lifecycle/background-loop.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { Database } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { bucketKey, type PresignBucket } from "./bucket.ts";
import { type PoolBounds, planRefill } from "./plan-refill.ts";
import type { PresignQueue } from "./presign-queue.ts";
import { readDemand } from "./read-demand.ts";
import { lockPlanner, requestPresigns } from "./request-presigns.ts";

/** Keeps each warm bucket at its target, and fills buckets with waiting callers. */
export function createRefillLoop(deps: RefillLoopDeps): BackgroundLoop {
  const { database, signals, queue, network, clock, log, intervalMs = DEFAULT_INTERVAL_MS } = deps;
  let warm: { readonly buckets: PresignBucket[]; readonly untilMs: number } | undefined;
  return createBackgroundLoop({
    name: "presign refill",
    intervalMs,
    clock,
    log,
    wakeOn: (wake) => {
      let cancel: (() => void) | undefined;
      // Each reservation wants a presign, but a pass serves many of them.
      const wakeLater = () => {
        cancel ??= clock.after(intervalMs * DAMPING, () => {
          cancel = undefined;
          wake();
        });
      };
      const unsubscribe = signals.subscribe(topics.presignWanted(network), () =>
        queue.waitedFor().length > 0 ? wake() : wakeLater(),
      );
      return () => {
        unsubscribe();
        cancel?.();
      };
    },
    pass: refill,
  });

  async function refill(): Promise<PassResult> {
    const { buckets, isFresh } = await bucketsToFill();
    // What was remembered may lack the bucket of the signal that began this pass.
    const rest = isFresh && { restMs: idleRestMs(signals, intervalMs) };
    if (buckets.length === 0) return rest;
    const buffer = await deps.sessionBuffer();
    const affordable = await Promise.all(buckets.map((bucket) => deps.affordable(bucket)));
    const requested = await database.transaction(async (db) => {
      if (!(await lockPlanner(db, network))) return { plans: [], isSteady: false, isShort: false };
      if ((await drainingSince(db, network)) !== undefined)
        return { plans: [], isSteady: true, isShort: false };
      const demandOf = await readDemand(db, network);
      const demands = buckets.map((bucket, index) => ({
        bucket,
        affordableCount: affordable[index] ?? 0,
        demand: { ...demandOf(bucket), waitingCount: queue.waitingCount(bucket) },
      }));
      const plans = shareRoom(
        demands.map(({ bucket, demand, affordableCount }) => ({
          bucket,
          isWaitedFor: demand.waitingCount > 0,
          count: Math.min(
            planRefill(demand, deps.bounds),
            affordableCount - demand.readyCount - demand.pendingCount,
          ),
        })),
        buffer - demands.reduce((sum, { demand }) => sum + demand.pendingCount, 0),
      );
      for (const { bucket, count } of plans) await requestPresigns(db, bucket, count);
      // A presign that becomes ready makes room for the next one.
      const isSteady = demands.every(({ demand }) => demand.pendingCount === 0 && demand.waitingCount === 0);
      const isShort = demands.some(
        ({ demand }) => demand.spoiltCount > 0 || planRefill(demand, deps.bounds) > 0,
      );
      return { plans, isSteady, isShort };
    });
    for (const { bucket, count } of requested.plans) log.debug({ ...bucket, count }, "presigns requested");
    if (requested.plans.length > 0) signals.notify(topics.outbox(network));
    if (requested.plans.length > 0 || !requested.isSteady) return false;
    // No signal announces new funds of the Treasury, or that failures are long ago.
    return rest && requested.isShort ? { restMs: Math.min(rest.restMs, SHORT_REST_MS) } : rest;
  }

  async function bucketsToFill(): Promise<{ buckets: PresignBucket[]; isFresh: boolean }> {
    const isFresh = warm === undefined || warm.untilMs <= clock.now();
    if (warm === undefined || isFresh) {
      warm = { buckets: await deps.warmBuckets(), untilMs: clock.now() + WARM_BUCKETS_MS };
    }
    // Serves a first use at once, before the next read of the warm buckets.
    const all = [...warm.buckets, ...queue.waitedFor().filter(({ ofDWallet }) => ofDWallet !== true)];
    return { buckets: [...new Map(all.map((bucket) => [bucketKey(bucket), bucket])).values()], isFresh };
  }
}

/** Dependencies of {@link createRefillLoop}. */
export interface RefillLoopDeps {
  readonly database: Database;
  readonly signals: Signals;
  readonly queue: Pick<PresignQueue, "waitedFor" | "waitingCount">;
  readonly network: string;
  readonly bounds: PoolBounds;
  readonly clock: Clock;
  /** The buckets to keep at their target before anyone waits for them. */
  readonly warmBuckets: () => Promise<PresignBucket[]>;
  /** The number of sessions that the network processes at a time. */
  readonly sessionBuffer: () => Promise<number>;
  /** The number of presigns that the Treasury can pay for and use. */
  readonly affordable: Affordable;
  readonly log: Log;
  /** Default 1 s. Signals wake the loop sooner. */
  readonly intervalMs?: number;
}

const DEFAULT_INTERVAL_MS = 1_000;
/** The share of the interval by which a signal may come late while no caller of this process waits. */
const DAMPING = 0.5;
/** The longest rest while a bucket lacks presigns that nobody can pay for, or that lately failed. */
const SHORT_REST_MS = 10_000;
/** The interval between reads of the warm buckets, which cover all dWallets and change only with first uses. */
const WARM_BUCKETS_MS = 1_000;

interface RefillPlan {
  readonly bucket: PresignBucket;
  readonly isWaitedFor: boolean;
  readonly count: number;
}

/** Reduces the plans to the number that the network processes at a time. Buckets with waiting callers come first. */
export function shareRoom(plans: readonly RefillPlan[], roomCount: number): RefillPlan[] {
  let left = Math.max(0, roomCount);
  return [...plans]
    .sort((a, b) => Number(b.isWaitedFor) - Number(a.isWaitedFor))
    .map((plan) => {
      const count = Math.max(0, Math.min(plan.count, left));
      left -= count;
      return { ...plan, count };
    })
    .filter(({ count }) => count > 0);
}

/**
 * Creates a function that counts the presigns that the Treasury can pay for. The price of a presign includes that of
 * its signature, so the pool never buys presigns without the means to sign. All buckets share one reading of balances
 * and prices, which is cached for `rememberedMs`, by default ten seconds.
 */
export function createAffordable(
  treasury: Pick<TreasuryReader, "balances" | "signPrices">,
  clock: Pick<Clock, "now">,
  rememberedMs = DEFAULT_REMEMBERED_MS,
): Affordable {
  let known: { readonly funds: ReturnType<typeof read>; readonly untilMs: number } | undefined;
  return async ({ curve, signatureAlgorithm }) => {
    const [{ ika, sui }, prices] = await funds();
    const price = prices.find((one) => one.curve === curve && one.signatureAlgorithm === signatureAlgorithm);
    // The chain itself refuses an operation without a price, so no limit is needed here.
    if (price === undefined) return Number.MAX_SAFE_INTEGER;
    return Math.min(times(ika, price.ika), times(sui, price.sui));
  };

  function funds(): ReturnType<typeof read> {
    if (known !== undefined && known.untilMs > clock.now()) return known.funds;
    const reading = read();
    known = { funds: reading, untilMs: clock.now() + rememberedMs };
    reading.catch(() => {
      known = undefined;
    });
    return reading;
  }

  function read(): Promise<[TreasuryBalances, SignPrice[]]> {
    return Promise.all([treasury.balances(), treasury.signPrices()]);
  }
}

function times(balance: bigint, price: bigint): number {
  return price === 0n ? Number.MAX_SAFE_INTEGER : Number(balance / price);
}

/** Returns the number of a bucket's presigns that the Treasury can pay for, including those in stock. */
export type Affordable = (bucket: PresignBucket) => Promise<number>;

const DEFAULT_REMEMBERED_MS = 10_000;
