import { RecentMap } from "../../coordination/recent-map.ts";

/** Declared transactions that paid nothing, by project, for a moment: they are not looked up again meanwhile. */
export interface RecentRefusals {
  /** Why the declaration was refused a moment ago; undefined where it was not. */
  find(projectId: string, txDigest: string): RefusalReason | undefined;
  add(projectId: string, txDigest: string, reason: RefusalReason): void;
}

/** Why a declared transaction credits nothing. */
export type RefusalReason = "DEPOSIT_NOT_FOUND" | "DEPOSIT_TAKEN";

/** A fullnode may learn of a new transaction in this time, so that nobody waits much longer than he would. */
const KEPT_MS = 2_000;
const MAX_COUNT = 10_000;

/** Remembers nothing yet. `now` is in milliseconds that only grow. */
export function createRecentRefusals(now: () => number = () => performance.now()): RecentRefusals {
  const known = new RecentMap<string, { readonly reason: RefusalReason; readonly untilMs: number }>(
    MAX_COUNT,
  );
  const keyOf = (projectId: string, txDigest: string) => `${projectId} ${txDigest}`;
  return {
    find(projectId, txDigest) {
      const found = known.get(keyOf(projectId, txDigest));
      return found !== undefined && found.untilMs > now() ? found.reason : undefined;
    },
    add(projectId, txDigest, reason) {
      known.set(keyOf(projectId, txDigest), { reason, untilMs: now() + KEPT_MS });
    },
  };
}
