import type { FaultSettings } from "../../src/localnet/faults/fault-settings.ts";
import type { Random } from "./random.ts";

/** What is to happen in a simulation. */
export interface Plan {
  readonly faults: Partial<FaultSettings>;
  readonly operatorCount: number;
  /** Of each client. */
  readonly signCounts: readonly number[];
  /** Whether the network changes under everyone. */
  readonly isDisturbed: boolean;
  /** How many steps a life has. */
  readonly lifeSteps: (replica: number, life: number) => number;
}

/** So many calls a replica lives at most while it is to be killed; starting one takes some forty. */
const LIFE_STEPS = 1_500;

/**
 * All that can go wrong, in a combination that follows from the seed. The first life of the first replica ends at the
 * step of the seed's own number, so that seeds in a row end it at every call and every answer in turn.
 */
export function severalDeaths(seed: number, random: Random): Plan {
  return {
    faults: chooseFaults(random),
    operatorCount: random.integer(1, 3),
    signCounts: [random.integer(2, 6), random.integer(2, 6)],
    isDisturbed: true,
    lifeSteps: (replica, life) =>
      replica === 0 && life === 0 ? 1 + (seed % LIFE_STEPS) : random.integer(1, LIFE_STEPS),
  };
}

/** Nothing goes wrong but that the first replica dies once, at this step of its first life. */
export function oneDeath(step: number): Plan {
  return {
    faults: {},
    operatorCount: 1,
    signCounts: [3],
    isDisturbed: false,
    lifeSteps: (replica, life) => (replica === 0 && life === 0 ? step : Number.POSITIVE_INFINITY),
  };
}

/** Each fault in about every third simulation, so that they meet in all combinations. */
function chooseFaults(random: Random): Partial<FaultSettings> {
  const sometimes = (max: number): number => (random.happens(0.35) ? random.next() * max : 0);
  return {
    latencyMs: random.happens(0.3) ? random.integer(0, 15) : 0,
    jitterMs: random.happens(0.5) ? random.integer(0, 40) : 0,
    dropReply: sometimes(0.4),
    rateLimit: sometimes(0.02),
    timeout: sometimes(0.01),
    staleRead: sometimes(0.3),
    staleCommits: random.integer(1, 6),
    versionConflict: sometimes(0.2),
    congestion: sometimes(0.2),
    rejectSessions: { presign: sometimes(0.1), sign: sometimes(0.2) },
    completionDelayMs: random.happens(0.3) ? random.integer(0, 250) : 0,
    completionJitterMs: random.happens(0.3) ? random.integer(0, 500) : 0,
    corruptSignature: sometimes(0.2),
  };
}
