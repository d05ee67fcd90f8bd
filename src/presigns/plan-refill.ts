export interface BucketDemand {
  /** Presigns that can be reserved. */
  readonly readyCount: number;
  /** Presigns asked for and not yet there. */
  readonly pendingCount: number;
  /** Reservations that wait for a presign now. */
  readonly waitingCount: number;
  /** Presigns of the bucket that lately failed before they were ready. */
  readonly spoiltCount: number;
  /** Presigns of the bucket that lately became ready, in the same time. */
  readonly madeCount: number;
  /** Reservations a second, as of late. */
  readonly takenPerSecond: number;
  /** How long a presign takes from being asked for to being ready, in most cases. Undefined before the first one. */
  readonly mintSeconds: number | undefined;
}

/** The operator's bounds, for every bucket alike. */
export interface PoolBounds {
  /** Below this many ready and pending ones the pool refills, however little is asked of it. */
  readonly lowWaterCount: number;
  /** Never more ready and pending ones than this. */
  readonly highWaterCount: number;
  /**
   * Never more pending ones than this: the network works through its sessions in order, and a long row of presigns
   * would keep signatures waiting. Default 32.
   */
  readonly pendingMaxCount?: number;
}

const DEFAULT_PENDING_MAX_COUNT = 32;
/** The normal quantile that is not passed in 99 of 100 cases. */
const QUANTILE = 2.33;
/** What is assumed of a presign that was never made. */
const FIRST_MINT_SECONDS = 5;
/** So many failures in a row are paid for before the bucket pauses. */
const PROBES = 3;

/**
 * How many presigns to ask for now: as many as bring the bucket up to its target after those that wait were served,
 * within the bounds.
 */
export function planRefill(demand: BucketDemand, bounds: PoolBounds): number {
  const { readyCount, pendingCount, waitingCount } = demand;
  const stockCount = readyCount + pendingCount;
  const wantedCount = Math.min(targetCount(demand, bounds) + waitingCount, bounds.highWaterCount);
  const pendingMaxCount = Math.min(bounds.pendingMaxCount ?? DEFAULT_PENDING_MAX_COUNT, trustedCount(demand));
  return Math.max(0, Math.min(wantedCount - stockCount, pendingMaxCount - pendingCount));
}

/**
 * What is to be in stock or on its way: whatever is asked for now comes after one minting time, so the stock must last
 * that long in all but one of a hundred cases. Arrivals are taken as Poisson's, whose spread is the root of their mean.
 */
export function targetCount(demand: BucketDemand, bounds: PoolBounds): number {
  const expected = demand.takenPerSecond * (demand.mintSeconds ?? FIRST_MINT_SECONDS);
  const quantile = Math.ceil(expected + QUANTILE * Math.sqrt(expected));
  return Math.min(Math.max(bounds.lowWaterCount, quantile), bounds.highWaterCount);
}

/**
 * How many may be under way while presigns fail: what makes them fail would fail the next ones too, and each costs gas.
 * One at a time when none succeeds, and none after {@link PROBES}.
 */
function trustedCount({ spoiltCount, madeCount }: BucketDemand): number {
  if (spoiltCount <= madeCount) return Number.POSITIVE_INFINITY;
  return spoiltCount < PROBES ? 1 : 0;
}
