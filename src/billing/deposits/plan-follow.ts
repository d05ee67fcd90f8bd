/**
 * Decides the follower's next step. It reads the checkpoints between its position and the start of the stream one by
 * one, unless they are too many. A position far beyond the chain's end comes from a lying fullnode or another chain, so
 * the follower goes back.
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
  /** The newest checkpoint at some time after the stream was opened. */
  readonly latest: bigint;
  /** True if the fullnode lacks the checkpoint to read next. */
  readonly isUnreadable: boolean;
}

/** The next step: `to` is the position after it. */
export type FollowStep =
  /** Read the checkpoints from `from` up to, but without, `to` one by one. */
  | { readonly kind: "read"; readonly from: bigint; readonly to: bigint }
  /** Every checkpoint before `to` has been read. */
  | { readonly kind: "advance"; readonly to: bigint }
  /** Checkpoints before `to` were not read, so every address must be scanned. */
  | { readonly kind: "skip"; readonly to: bigint }
  | { readonly kind: "rest" };

/** Five minutes of a public network. Beyond that, scans of every address cost about as much as the checkpoints. */
const MAX_GAP = 1_200n;
/** Bounds the calls per second while the follower catches up. */
const READS_PER_STEP = 50n;
/** Fullnodes behind one load balancer differ by less. */
const MAX_LAG = 240n;
