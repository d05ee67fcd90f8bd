import { type Sighting, uuidOf } from "./sightings.ts";
import type { Alert, Expected, Pending, TowerState } from "./tower-state.ts";
import type { LoggedRequest } from "./user-log.ts";

/**
 * Decides what a round has found: which sightings the log explains, which may still be explained, and which are told.
 * Each request of the log explains one signature of its message, for {@link EXPECTED_MS}. A sighting without a request is
 * told after `graceMs`, in which a log that is copied from another machine can arrive.
 */
export function explain(
  state: Pick<TowerState, "expected" | "pending">,
  { requests, sightings, nowMs, graceMs }: RoundFacts,
): Decision {
  const expected = remember(state.expected, requests, nowMs);
  const all = [...state.pending, ...sightings.map((sighting): Pending => ({ sighting, sinceMs: nowMs }))];
  const pending: Pending[] = [];
  const told: Alert[] = [];
  for (const one of all) {
    const { sighting, sinceMs } = one;
    const index = expected.findIndex((request) => !request.isUsed && fits(request, sighting));
    if (index >= 0) {
      expected[index] = { ...expected[index]!, isUsed: true };
      continue;
    }
    const mayBeExplained = sighting.messageSha256 !== "" || isOwnersExit(sighting);
    if (mayBeExplained && nowMs - sinceMs < graceMs && pending.length < PENDING_MAX_COUNT) pending.push(one);
    else told.push(alertOf(sighting, nowMs));
  }
  return { expected, pending, told };
}

/** What a round has read. */
interface RoundFacts {
  readonly requests: readonly LoggedRequest[];
  /** New sightings of watched dWallets. */
  readonly sightings: readonly Sighting[];
  readonly nowMs: number;
  readonly graceMs: number;
}

interface Decision extends Pick<TowerState, "expected" | "pending"> {
  readonly told: readonly Alert[];
}

/** How long a request of the log explains a signature: as long as the service remembers an idempotency key. */
export const EXPECTED_MS = 24 * 3_600_000;
/** The maximum number of remembered requests. Older ones explain nothing more. */
export const EXPECTED_MAX_COUNT = 100_000;
/** The maximum number of sightings that wait. Further ones are told at once. */
export const PENDING_MAX_COUNT = 1_000;

function remember(old: readonly Expected[], requests: readonly LoggedRequest[], nowMs: number): Expected[] {
  const kept = old.filter(({ atMs }) => nowMs - atMs < EXPECTED_MS);
  const known = new Set(kept.map(identityOf));
  for (const request of requests) {
    const identity = identityOf(request);
    // A repeated request is the same signature.
    if (known.has(identity)) continue;
    known.add(identity);
    kept.push({ ...request, atMs: nowMs });
  }
  return kept.slice(-EXPECTED_MAX_COUNT);
}

const identityOf = ({ what, key, dwalletId = "" }: LoggedRequest | Expected): string =>
  JSON.stringify([what, key, dwalletId]);

function fits({ what, dwalletId }: Expected, sighting: Sighting): boolean {
  if (dwalletId !== undefined && dwalletId !== sighting.dwalletId) return false;
  if (sighting.kind === "left") return what === "leave" && isOwnersExit(sighting);
  return sighting.messageSha256 !== "" && what === sighting.messageSha256;
}

/** An exit that the user asked for, and not one that the Treasury's administrator made instead. */
const isOwnersExit = ({ kind, facts }: Sighting): boolean => kind === "left" && facts["by"] === "owner";

function alertOf({ id, kind, dwalletId, facts }: Sighting, nowMs: number): Alert {
  return { id, kind: `watchtower.${kind}`, subject: subjectOf(dwalletId, facts), data: facts, atMs: nowMs };
}

/** The dWallet, or the Treasury of an event about all of its dWallets. */
const subjectOf = (dwalletId: string, facts: Sighting["facts"]): string =>
  dwalletId === "" ? (facts["treasury_id"] ?? "") : dwalletId;

/** Returns the alert for an event that a fullnode has not shown. */
export function disagreement(
  { id, dwalletId, facts, kind }: Sighting,
  without: readonly string[],
  nowMs: number,
): Alert {
  return {
    id: uuidOf(`disagreement/${id}`),
    kind: "watchtower.disagreement",
    subject: subjectOf(dwalletId, facts),
    data: { ...facts, event: kind, missing_at: without.join(" ") },
    atMs: nowMs,
  };
}
