/** What is known about the service's answers: when it last answered, and whether the newest call got none. */
export interface Reach {
  /** Milliseconds since 1970; undefined while the service answers. */
  readonly silentSinceMs: number | undefined;
}

/** Follows whether the service answers any call of the page. The first silent call begins a silence, an answer ends it. */
export function createReach(nowMs: () => number): ReachFollower {
  let reach: Reach = { silentSinceMs: undefined };
  const listeners = new Set<(reach: Reach) => void>();
  const become = (silentSinceMs: number | undefined): void => {
    if (silentSinceMs === reach.silentSinceMs) return;
    reach = { silentSinceMs };
    for (const listener of listeners) listener(reach);
  };
  return {
    answered: () => become(undefined),
    silent: () => become(reach.silentSinceMs ?? nowMs()),
    follow(listener) {
      listeners.add(listener);
      listener(reach);
      return () => void listeners.delete(listener);
    },
  };
}

/** Told about each call, and tells its followers. */
export interface ReachFollower {
  /** A call got an answer, also a refusal. */
  answered(): void;
  /** A call got no answer. */
  silent(): void;
  /** Calls the listener now and at each change. Returns the function that ends it. */
  follow(listener: (reach: Reach) => void): () => void;
}

/** The reach of the service that this page came from. */
export const reach: ReachFollower = createReach(() => Date.now());

/** Returns the pause before another try of a call without an answer: it doubles up to 15 s. */
export function retryPauseMs(failureCount: number): number {
  return Math.min(FIRST_PAUSE_MS * 2 ** Math.max(0, failureCount - 1), LONGEST_PAUSE_MS);
}

const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 15_000;
