import type { Clock } from "../service/platform/lifecycle/clock.ts";
import type { RoundResult } from "./watch-round.ts";

/** Creates the health of a watch, from its successful rounds. */
export function createHealth({ expectsProgress, clock }: HealthOptions): Health {
  let caughtUpMs: number | undefined;
  let newest = -1n;
  let progressMs: number | undefined;
  const isRecent = (ms: number | undefined) => ms !== undefined && clock.now() - ms < STALE_MS;
  return {
    note(result) {
      if (result.lag < LAG_MAX_COUNT) caughtUpMs = clock.now();
      if (result.newest <= newest) return;
      newest = result.newest;
      progressMs = clock.now();
    },
    isHealthy: () => isRecent(caughtUpMs) && (!expectsProgress || isRecent(progressMs)),
  };
}

/** Whether a watch sees what the chain does. A fullnode that stands still must not look like a quiet chain. */
export interface Health {
  /** Takes note of a round that has succeeded. */
  note(result: Pick<RoundResult, "lag" | "newest">): void;
  isHealthy(): boolean;
}

interface HealthOptions {
  /** Whether the chain always makes checkpoints, as a public one does. */
  readonly expectsProgress: boolean;
  readonly clock: Clock;
}

/** After this time without a good round, the watch is not healthy. */
const STALE_MS = 60_000;
/** The largest lag of a healthy watch: about two minutes of Sui. */
const LAG_MAX_COUNT = 500n;
