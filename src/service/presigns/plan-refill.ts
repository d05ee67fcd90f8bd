/**
 * Returns the number of presigns to request now: enough to bring the bucket to its target once all waiting reservations
 * are served, within the bounds.
 */
export function planRefill(demand: BucketDemand, bounds: PoolBounds): number {
  const { readyCount, pendingCount, waitingCount } = demand;
  const stockCount = readyCount + pendingCount;
  const wantedCount = Math.min(targetCount(demand, bounds) + waitingCount, bounds.highWaterCount);
  const pendingMaxCount = Math.min(bounds.pendingMaxCount ?? DEFAULT_PENDING_MAX_COUNT, trustedCount(demand));
  return Math.max(0, Math.min(wantedCount - stockCount, pendingMaxCount - pendingCount));
}

export interface BucketDemand {
  /** Presigns that are ready to be reserved. */
  readonly readyCount: number;
  /** Presigns that were requested and are not ready yet. */
  readonly pendingCount: number;
  /** Reservations that currently wait for a presign. */
  readonly waitingCount: number;
  /** Presigns of the bucket that recently failed before they were ready. */
  readonly spoiltCount: number;
  /** Presigns of the bucket that became ready in the same time. */
  readonly madeCount: number;
  /** The recent number of reservations per second. */
  readonly takenPerSecond: number;
  /**
   * The 90th percentile of the time from the request of a presign until it is ready. Undefined before the first one.
   */
  readonly mintSeconds: number | undefined;
}

/** The operator's bounds, which apply to each bucket. */
export interface PoolBounds {
  /** The minimum of ready and pending presigns, which the pool keeps even without demand. */
  readonly lowWaterCount: number;
  /** The maximum of ready and pending presigns. */
  readonly highWaterCount: number;
  /**
   * The maximum of pending presigns. The network processes its sessions in order, and a long queue of presigns would
   * delay signatures. Default 32.
   */
  readonly pendingMaxCount?: number;
}

const DEFAULT_PENDING_MAX_COUNT = 32;
/** The 99th percentile of the normal distribution, in standard deviations. */
const QUANTILE = 2.33;
/** The assumed minting time before the first presign. */
const FIRST_MINT_SECONDS = 5;
/** The number of recent failures at which a failing bucket pauses. */
const PROBES = 3;

/**
 * Returns the target of presigns in stock or on their way. A presign that is requested now arrives after one minting
 * time, so the stock must last that long in 99 of 100 cases. Arrivals are assumed to follow a Poisson distribution,
 * whose standard deviation is the square root of its mean.
 */
export function targetCount(demand: BucketDemand, bounds: PoolBounds): number {
  const expected = demand.takenPerSecond * (demand.mintSeconds ?? FIRST_MINT_SECONDS);
  const quantile = Math.ceil(expected + QUANTILE * Math.sqrt(expected));
  return Math.min(Math.max(bounds.lowWaterCount, quantile), bounds.highWaterCount);
}

/**
 * Returns the maximum of pending presigns: unlimited, unless failures outnumber successes. Then it is one, because the
 * cause would fail the next presigns too, and each costs gas. From {@link PROBES} failures on it is zero.
 */
function trustedCount({ spoiltCount, madeCount }: BucketDemand): number {
  if (spoiltCount <= madeCount) return Number.POSITIVE_INFINITY;
  return spoiltCount < PROBES ? 1 : 0;
}
