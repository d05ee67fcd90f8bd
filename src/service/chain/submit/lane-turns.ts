import type { LaneDriver } from "./lane-driver.ts";

/**
 * Wakes the lanes of a process one after another. All of them at once would look for the same operation and lease their
 * lanes, and all but one would claim nothing. A lane hands its turn on when it has claimed something, or can claim
 * nothing, so the next one looks only at what is left. A turn ends when nothing is queued, or when every lane has had it.
 */
export function createLaneTurns(lanes: readonly Pick<LaneDriver, "isBusy" | "wake">[]): LaneTurns {
  /** The number of lanes that may have each lane's turn after it. */
  const left = lanes.map(() => 0);
  let first = 0;

  /** Gives a turn to the next lane without a lease. */
  function give(from: number, leftCount: number): void {
    for (let step = 0; step < lanes.length; step++) {
      const index = (from + step) % lanes.length;
      const lane = lanes[index]!;
      if (lane.isBusy()) continue;
      left[index] = Math.max(left[index]!, leftCount);
      lane.wake();
      return;
    }
    // Each of them looks again when it is done.
    for (const lane of lanes) lane.wake();
  }

  return {
    begin() {
      give(first, lanes.length - 1);
      first = (first + 1) % lanes.length;
    },
    take(index) {
      let leftCount = left[index]!;
      left[index] = 0;
      return () => {
        if (leftCount > 0) give(index + 1, leftCount - 1);
        leftCount = 0;
      };
    },
  };
}

/** The turns of a process's lanes. */
export interface LaneTurns {
  /** Begins a turn, at another lane each time. */
  begin(): void;
  /**
   * Takes the turn of the lane at this place, if it has one. Returns the function that hands it on, of which only the
   * first call does something.
   */
  take(index: number): () => void;
}
