import type { TokenBuckets } from "../coordination/coordination.ts";
import { RecentMap } from "../coordination/recent-map.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { Clock } from "../lifecycle/clock.ts";
import { PoolFullError } from "../threads/worker-pool.ts";
import type { SignMessageClaim } from "./check-sign-message.ts";
import type { Verifier } from "./verifier.ts";

/**
 * Creates a check that allows each project a budget of wrong halves. It bounds their cost however much credit the
 * project has.
 */
export function createCheckHalf({ verifier, wrongHalves, clock }: CheckHalfOptions): CheckHalf {
  const pausedUntilMs = new RecentMap<string, number>(PROJECTS_MAX_COUNT);
  return async (projectId, claim) => {
    const leftMs = (pausedUntilMs.get(projectId) ?? 0) - clock.now();
    if (leftMs > 0) throw tooManyWrong(leftMs);
    const wrong = await verifier.checkHalf(projectId, claim).catch((cause: unknown) => {
      if (!(cause instanceof PoolFullError)) throw cause;
      throw new ServiceError("VERIFICATION_BUSY", "too many halves are waiting for verification", { cause });
    });
    if (wrong === undefined) return;
    const { isAllowed, waitMs } = await wrongHalves.take(projectId);
    if (!isAllowed) pausedUntilMs.set(projectId, clock.now() + waitMs);
    throw new ServiceError("MALFORMED_SIGN_MESSAGE", wrong);
  };
}

/**
 * Checks a user's half before the project pays for it. Throws MALFORMED_SIGN_MESSAGE if the half is wrong,
 * TOO_MANY_WRONG_HALVES, without checking it, if the project has sent too many wrong ones, and VERIFICATION_BUSY if too
 * many halves wait.
 */
export type CheckHalf = (projectId: string, claim: SignMessageClaim) => Promise<void>;

export interface CheckHalfOptions {
  readonly verifier: Pick<Verifier, "checkHalf">;
  /** Counts the wrong halves of each project. */
  readonly wrongHalves: TokenBuckets;
  readonly clock: Pick<Clock, "now">;
}

const PROJECTS_MAX_COUNT = 10_000;

function tooManyWrong(leftMs: number): ServiceError {
  return new ServiceError("TOO_MANY_WRONG_HALVES", "the project has sent too many wrong halves", {
    retryAfterSeconds: leftMs / 1_000,
  });
}
