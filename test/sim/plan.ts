import type { FaultSettings } from "../../src/localnet/faults/fault-settings.ts";
import type { Budget } from "../../src/service/access/allowances/allowance.ts";
import type { ClientPlan } from "./client.ts";
import { createRandom, type Random } from "./random.ts";
import { PRICE } from "./replica.ts";

/** The plan of a simulation. */
export interface Plan {
  readonly faults: Partial<FaultSettings>;
  readonly operatorCount: number;
  /** The number of signatures of each client. */
  readonly signCounts: readonly number[];
  /** Whether and when each client takes its dWallet out. */
  readonly leaves: readonly ClientPlan["leaves"][];
  /** The budget of each client's key; undefined for a key without limits. */
  readonly budgets: readonly (Budget | undefined)[];
  /** True if the network changes for everyone. */
  readonly isDisturbed: boolean;
  /** Returns the number of steps of a life. */
  readonly lifeSteps: (replica: number, life: number) => number;
}

const LEAVES = ["meanwhile", "afterwards", "never"] as const;
/** The longest life of a replica, in calls. A start takes about forty. */
const LIFE_STEPS = 1_000;
/** So short that several windows pass in a simulation. */
const WINDOW_SECONDS = 2;

/**
 * Combines all faults by the seed. The first life of the first replica ends at the step with the seed's number, so that
 * consecutive seeds end it at consecutive calls and answers.
 */
export function severalDeaths(seed: number, random: Random): Plan {
  return {
    faults: chooseFaults(random),
    operatorCount: random.integer(1, 3),
    signCounts: [random.integer(2, 6), random.integer(2, 6)],
    leaves: [random.pick(LEAVES), random.pick(LEAVES)],
    budgets: [chooseBudget(seed), chooseBudget(~seed)],
    isDisturbed: true,
    lifeSteps: (replica, life) =>
      replica === 0 && life === 0 ? 1 + (seed % LIFE_STEPS) : random.integer(1, LIFE_STEPS),
  };
}

/** The only fault is one death of the first replica, at this step of its first life. */
export function oneDeath(step: number): Plan {
  return {
    faults: {},
    operatorCount: 1,
    signCounts: [3],
    leaves: ["afterwards"],
    // Nothing is refused, so that the numbers of the steps stay.
    budgets: [{ windowSeconds: WINDOW_SECONDS, maxCount: 1_000, maxMicroUsd: undefined }],
    isDisturbed: false,
    lifeSteps: (replica, life) => (replica === 0 && life === 0 ? step : Number.POSITIVE_INFINITY),
  };
}

/**
 * Chooses a small budget in two of three simulations, without a change of the other choices. A dWallet costs twice the
 * price of a signature.
 */
function chooseBudget(seed: number): Budget | undefined {
  const random = createRandom(seed ^ 0xb0d6e7);
  if (random.happens(0.35)) return undefined;
  const maxMicroUsd = random.happens(0.5) ? BigInt(random.integer(2, 5)) * PRICE : undefined;
  const maxCount = maxMicroUsd === undefined || random.happens(0.5) ? random.integer(1, 4) : undefined;
  return { windowSeconds: WINDOW_SECONDS, maxCount, maxMicroUsd };
}

/** Each fault occurs in about a third of the simulations, so that all combinations occur. */
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
