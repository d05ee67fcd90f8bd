/**
 * Decides how the follower moves on. It reads the checkpoints between its position and the start of the stream one by
 * one, unless they are too many. A position far beyond the chain's end comes from a fullnode that lied, or from another
 * chain: the follower goes back.
 */
export function planFollow({ next, seen, latest, isUnreadable }: FollowState): FollowStep {
  const end = (seen?.last ?? latest) + 1n;
  if (next === null) return { kind: "advance", to: end };
  if (next > end + MAX_LAG) return { kind: "skip", to: end };
  const streamStart = seen?.first ?? end;
  if (next < streamStart) {
    if (isUnreadable || streamStart - next > MAX_GAP) return { kind: "skip", to: end };
    const chunkEnd = next + READS_PER_STEP;
    return { kind: "read", from: next, to: chunkEnd < streamStart ? chunkEnd : streamStart };
  }
  return next < end ? { kind: "advance", to: end } : { kind: "rest" };
}

/** The follower's position. */
export interface FollowState {
  /** The checkpoint to read next; null before the first. */
  readonly next: bigint | null;
  /** The first and the last checkpoint of the open stream; undefined before its first message. */
  readonly seen: { readonly first: bigint; readonly last: bigint } | undefined;
  /** The newest checkpoint at some moment after the stream was opened. */
  readonly latest: bigint;
  /** Whether the fullnode lacks the checkpoint to read next. */
  readonly isUnreadable: boolean;
}

/** The next step: `to` is the position after it. */
export type FollowStep =
  /** Read these checkpoints, without `to`, one by one. */
  | { readonly kind: "read"; readonly from: bigint; readonly to: bigint }
  /** Everything before `to` is read. */
  | { readonly kind: "advance"; readonly to: bigint }
  /** Checkpoints before `to` were not read, so every address must be scanned. */
  | { readonly kind: "skip"; readonly to: bigint }
  | { readonly kind: "rest" };

/** Five minutes of a public network. Beyond that, scans of every address cost about as much as the checkpoints. */
const MAX_GAP = 1_200n;
/** Bounds the calls of a second while the follower catches up. */
const READS_PER_STEP = 50n;
/** Replicas of a fullnode behind one address differ by less. */
const MAX_LAG = 240n;
