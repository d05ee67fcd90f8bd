import { RecentMap } from "../../coordination/recent-map.ts";
import type { Clock } from "../../lifecycle/clock.ts";

/** Creates an empty memory. */
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
 * Remembers declared transactions that paid nothing, by project, for a moment. They are not looked up again meanwhile.
 */
export interface RecentRefusals {
  /** The reason of a recent refusal; undefined if there was none. */
  find(projectId: string, txDigest: string): RefusalReason | undefined;
  add(projectId: string, txDigest: string, reason: RefusalReason): void;
}

/** Why a declared transaction credits nothing. */
export type RefusalReason = "DEPOSIT_NOT_FOUND" | "DEPOSIT_TAKEN";

/** A fullnode learns of a new transaction in about this time, so nobody waits much longer than necessary. */
const KEPT_MS = 2_000;
const MAX_COUNT = 10_000;
