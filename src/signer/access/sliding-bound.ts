/** Counts what happens in a window of time that ends now. */
export interface SlidingBound {
  /**
   * Counts one, unless the window has `most` already. Returns undefined if it counted, else the milliseconds until one
   * may be free.
   */
  take(most: number): number | undefined;
}

/**
 * Creates a count over a window. It counts in slices of a sixtieth, and a slice counts until all of it is older than the
 * window: no window of this length ever has more than the bound.
 */
export function createSlidingBound(windowMs: number, now: () => number): SlidingBound {
  const sliceMs = windowMs / SLICES;
  const counts = new Map<number, number>();
  return {
    take(most) {
      const slice = Math.floor(now() / sliceMs);
      let [total, oldest] = [0, slice];
      for (const [each, count] of counts) {
        if (each < slice - SLICES) counts.delete(each);
        else {
          total += count;
          oldest = Math.min(oldest, each);
        }
      }
      if (total >= most) return (oldest + SLICES + 1) * sliceMs - now();
      counts.set(slice, (counts.get(slice) ?? 0) + 1);
      return undefined;
    },
  };
}

const SLICES = 60;
