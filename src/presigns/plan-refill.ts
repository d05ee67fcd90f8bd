/** What a bucket has and needs. */
export interface BucketDemand {
  /** Presigns that can be reserved. */
  readonly readyCount: number;
  /** Presigns asked for and not yet there. */
  readonly pendingCount: number;
  /** Reservations that wait for a presign now. */
  readonly waitingCount: number;
  /** Presigns of the bucket that lately failed before they were ready. */
  readonly spoiltCount: number;
}

/** The operator's bounds, for every bucket alike. */
export interface PoolBounds {
  /** Below this many ready and pending ones the pool refills. */
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

/**
 * How many presigns to ask for now: as many as bring the bucket back to its low water after those that wait were
 * served, within the bounds. None while presigns spoil: what made them fail would fail the next ones too, and each
 * costs gas.
 */
export function planRefill(demand: BucketDemand, bounds: PoolBounds): number {
  if (demand.spoiltCount > 0) return 0;
  const stockCount = demand.readyCount + demand.pendingCount;
  const wantedCount = Math.min(bounds.lowWaterCount + demand.waitingCount, bounds.highWaterCount);
  const roomCount = (bounds.pendingMaxCount ?? DEFAULT_PENDING_MAX_COUNT) - demand.pendingCount;
  return Math.max(0, Math.min(wantedCount - stockCount, roomCount));
}
