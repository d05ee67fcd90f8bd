import type { Coordination, TokenBuckets } from "../../platform/coordination/coordination.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import type { BackOffs } from "./back-off.ts";
import type { ChainNetwork } from "./network.ts";

/** Creates the budgets, which replicas share through their coordination. The service's own reads do not count. */
export function createCallerReads({
  network,
  limits,
  coordination,
  backOffs,
}: CallerReadsOptions): CallerReads {
  const buckets = (name: string, perSecond: number) =>
    coordination.buckets(`fullnode reads of ${network}: ${name}`, {
      burstCount: perSecond * BURST_SECONDS,
      perSecond,
    });
  const project = buckets("project", limits.projectPerSecond);
  const total = buckets("total", limits.totalPerSecond);
  const underWay = new Map<string, number>();
  let totalUnderWay = 0;

  return (projectId) => ({
    backOff: {
      async run(call, signal) {
        const own = underWay.get(projectId) ?? 0;
        if (own >= PROJECT_AT_ONCE_COUNT) throw exhausted("project", BUSY_RETRY_SECONDS);
        if (totalUnderWay >= TOTAL_AT_ONCE_COUNT) throw exhausted("total", BUSY_RETRY_SECONDS);
        underWay.set(projectId, own + 1);
        totalUnderWay++;
        try {
          await take(project, "project", projectId);
          // The project's own bucket comes first, so that a project without tokens takes none of the others'.
          await take(total, "total", "all").catch(async (refused: unknown) => {
            await project.giveBack(projectId);
            throw refused;
          });
          return await backOffs.callers.run(call, signal);
        } finally {
          totalUnderWay--;
          const left = (underWay.get(projectId) ?? 1) - 1;
          if (left > 0) underWay.set(projectId, left);
          else underWay.delete(projectId);
        }
      },
    },
  });
}

/** The maximum number of fullnode reads per second that calls may cause. */
export interface CallerReadLimits {
  readonly projectPerSecond: number;
  /** For all projects together. */
  readonly totalPerSecond: number;
}

export interface CallerReadsOptions {
  /** Each network has its own budgets. */
  readonly network: string;
  readonly limits: CallerReadLimits;
  readonly coordination: Pick<Coordination, "buckets">;
  readonly backOffs: Pick<BackOffs, "callers">;
}

/**
 * The fullnode for one project's calls. Each read counts against the budgets of the project and of all callers. A read
 * beyond a budget throws CHAIN_READS_EXHAUSTED.
 */
export type CallerReads = (projectId: string) => Pick<ChainNetwork, "backOff">;

/** The size of a burst, in seconds of the budget. */
const BURST_SECONDS = 2;
/** The maximum number of simultaneous reads, so that a fullnode that hangs holds a bounded number of calls. */
const PROJECT_AT_ONCE_COUNT = 16;
const TOTAL_AT_ONCE_COUNT = 64;
const BUSY_RETRY_SECONDS = 1;

async function take(buckets: TokenBuckets, budget: Budget, subject: string): Promise<void> {
  const { isAllowed, waitMs } = await buckets.take(subject);
  if (!isAllowed) throw exhausted(budget, Math.max(1, waitMs) / 1_000);
}

type Budget = "project" | "total";

function exhausted(budget: Budget, retryAfterSeconds: number): ServiceError {
  const whose = budget === "project" ? "the project's calls have" : "the calls of all projects have";
  return new ServiceError("CHAIN_READS_EXHAUSTED", `${whose} used up their budget of fullnode reads`, {
    metadata: { budget },
    retryAfterSeconds,
  });
}
