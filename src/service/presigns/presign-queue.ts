import { type Signals, waitForSignal } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { type Clock, startDeadline } from "../platform/lifecycle/clock.ts";
import { bucketKey, type PresignBucket } from "./bucket.ts";

/** Creates the queues of this process, one for each bucket. */
export function createPresignQueue(options: PresignQueueOptions): PresignQueue {
  const {
    signals,
    clock,
    pollMs = 500,
    waitingMaxCount = 256,
    projectWaitingMaxCount = 64,
    onWait,
  } = options;
  const lines = new Map<string, Line>();

  return {
    async take(bucket, wait, attempt) {
      const key = bucketKey(bucket);
      if (!lines.has(key)) {
        const found = await attempt();
        if (found !== undefined) return found;
      }
      const line = lines.get(key) ?? { bucket, waiters: [] };
      const ofProject = line.waiters.filter((waiter) => waiter.projectId === wait.projectId);
      const isFull =
        line.waiters.length >= waitingMaxCount ||
        waitingCountOf(wait.projectId, line) >= projectWaitingMaxCount;
      if (isFull || wait.signal.aborted) {
        onWait?.("refused", 0);
        return undefined;
      }
      const beganMs = clock.now();
      let outcome: PresignWaitOutcome = "gave_up";
      lines.set(key, line);
      const own = newWaiter(wait.projectId, nextTurn(line, ofProject));
      const after = line.waiters.findIndex((waiter) => waiter.turn > own.turn);
      line.waiters.splice(after === -1 ? line.waiters.length : after, 0, own);
      signals.notify(topics.presignWanted(bucket.network));
      const limit = startDeadline(clock, Math.max(1, wait.timeoutMs));
      const deadline = AbortSignal.any([wait.signal, limit.signal]);
      try {
        if (!(await leftBefore(line, own, deadline))) return undefined;
        const found = await attemptUntil(bucket, deadline, attempt);
        if (found !== undefined) outcome = "served";
        return found;
      } finally {
        limit.clear();
        onWait?.(outcome, clock.now() - beganMs);
        line.waiters.splice(line.waiters.indexOf(own), 1);
        if (line.waiters.length === 0) lines.delete(key);
        own.leave();
      }
    },
    waitingCount: (bucket) => lines.get(bucketKey(bucket))?.waiters.length ?? 0,
    waitedFor: () => [...lines.values()].map((line) => line.bucket),
  };

  /** Counts the project's callers in the line, or in all lines of single dWallets: it can have many of these. */
  function waitingCountOf(projectId: string, line: Line): number {
    const together = line.bucket.ofDWallet
      ? [...lines.values()].filter(({ bucket }) => bucket.ofDWallet)
      : [line];
    return together.flatMap(({ waiters }) => waiters).filter((waiter) => waiter.projectId === projectId)
      .length;
  }

  async function attemptUntil<T>(
    bucket: PresignBucket,
    deadline: AbortSignal,
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    while (!deadline.aborted) {
      const found = await waitForSignal(
        signals,
        topics.presignReady(bucket.network),
        { clock, timeoutMs: pollMs, signal: deadline },
        attempt,
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

export interface PresignWait {
  readonly projectId: string;
  readonly timeoutMs: number;
  /** Ends the wait when the caller has left. */
  readonly signal: AbortSignal;
}

/** The callers that wait for presigns, in order. */
export interface PresignQueue {
  /**
   * Runs `attempt` until it returns something other than undefined, which means that it found a presign. Projects take
   * turns at a bucket, and the calls of a project are served in the order of arrival. Returns undefined if the time has
   * run out, the caller has left, or too many callers wait already. An error of `attempt` ends the wait.
   */
  take<T>(
    bucket: PresignBucket,
    wait: PresignWait,
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined>;
  /** The number of callers that wait for a presign of the bucket. */
  waitingCount(bucket: PresignBucket): number;
  /** The buckets with waiting callers. */
  waitedFor(): PresignBucket[];
}

/** The end of a wait: with a presign, without one, or refused because too many callers wait already. */
export type PresignWaitOutcome = "served" | "gave_up" | "refused";

export interface PresignQueueOptions {
  readonly signals: Signals;
  readonly clock: Clock;
  /** The interval at which the first caller retries without a signal, because signals may be lost. Default 500 ms. */
  readonly pollMs?: number;
  /** The maximum per bucket. Default 256. */
  readonly waitingMaxCount?: number;
  /**
   * The maximum per bucket and project, so that one project cannot fill the queue. All buckets of single dWallets count
   * as one. Default 64.
   */
  readonly projectWaitingMaxCount?: number;
  /** Called for each call that found the bucket empty. */
  readonly onWait?: (outcome: PresignWaitOutcome, durationMs: number) => void;
}

interface Line {
  readonly bucket: PresignBucket;
  /** In the order of turns. Each caller waits for the one before it to leave. */
  readonly waiters: Waiter[];
}

interface Waiter {
  readonly projectId: string;
  /** All callers of one turn go before those of the next. A project has one caller in each turn. */
  readonly turn: number;
  readonly left: Promise<void>;
  leave(): void;
}

/** Waits until `own` is first. Returns false if the deadline passes before that. */
async function leftBefore(line: Line, own: Waiter, deadline: AbortSignal): Promise<boolean> {
  let expire: () => void = () => {};
  const expired = new Promise<void>((resolve) => {
    expire = resolve;
  });
  deadline.addEventListener("abort", expire, { once: true });
  try {
    // A caller in the middle may give up, and one of an earlier turn may be inserted.
    while (!deadline.aborted) {
      const ahead = line.waiters[line.waiters.indexOf(own) - 1];
      if (ahead === undefined) return true;
      await Promise.race([ahead.left, expired]);
    }
    return false;
  } finally {
    deadline.removeEventListener("abort", expire);
  }
}

/**
 * Returns the turn of a new caller: after the project's other callers, and never before the turn that is being served.
 */
function nextTurn(line: Line, ofProject: readonly Waiter[]): number {
  const last = ofProject.at(-1);
  return Math.max(last === undefined ? 0 : last.turn + 1, line.waiters[0]?.turn ?? 0);
}

function newWaiter(projectId: string, turn: number): Waiter {
  let leave: () => void = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  return { projectId, turn, left, leave: () => leave() };
}
