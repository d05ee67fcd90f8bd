import { RecentMap } from "../../coordination/recent-map.ts";
import type { Clock } from "../../lifecycle/clock.ts";

/** Creates an empty cache. */
export function createRecentRefusals(clock: Pick<Clock, "now">): RecentRefusals {
  const known = new RecentMap<string, { readonly reason: RefusalReason; readonly untilMs: number }>(
    MAX_COUNT,
  );
  const keyOf = (projectId: string, txDigest: string) => `${projectId} ${txDigest}`;
  return {
    find(projectId, txDigest) {
      const found = known.get(keyOf(projectId, txDigest));
      return found !== undefined && found.untilMs > clock.now() ? found.reason : undefined;
    },
    add(projectId, txDigest, reason) {
      known.set(keyOf(projectId, txDigest), { reason, untilMs: clock.now() + KEPT_MS });
    },
  };
}

/**
 * Caches declared transactions that paid nothing, by project, for two seconds. A repeated declaration meanwhile does
 * not read the chain.
 */
export interface RecentRefusals {
  /** The reason of a recent refusal; undefined if there was none. */
  find(projectId: string, txDigest: string): RefusalReason | undefined;
  add(projectId: string, txDigest: string, reason: RefusalReason): void;
}

/** Why a declared transaction credits nothing. */
export type RefusalReason = "DEPOSIT_NOT_FOUND" | "DEPOSIT_TAKEN";

/** About the time in which a fullnode learns of a new transaction, so that a retry is not refused for much longer. */
const KEPT_MS = 2_000;
const MAX_COUNT = 10_000;
