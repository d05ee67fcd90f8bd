import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import { waitForSignal } from "../coordination/wait-for-signal.ts";
import { bucketKey, type PresignBucket } from "./bucket.ts";

/** How long a call waits for a presign. */
export interface PresignWait {
  readonly timeoutMs: number;
  /** Ends the wait when the caller has gone. */
  readonly signal: AbortSignal;
}

/** Those who wait for presigns, in order. */
export interface PresignQueue {
  /**
   * Runs `attempt` until it finds a presign, which it says by any result but undefined. Whoever came first to a
   * bucket tries first. Undefined when the time is over, the caller has gone, or too many wait already.
   * What `attempt` throws ends the wait.
   */
  take<T>(
    bucket: PresignBucket,
    wait: PresignWait,
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined>;
  /** How many wait for a presign of the bucket. */
  waitingCount(bucket: PresignBucket): number;
  /** The buckets that are waited for. */
  waitedFor(): PresignBucket[];
}

/** What the queue needs. */
export interface PresignQueueOptions {
  readonly signals: Signals;
  /** Signals may be lost, so the first in line looks by itself this often. Default 500 ms. */
  readonly pollMs?: number;
  /** Per bucket. Default 256. */
  readonly waitingMaxCount?: number;
}

interface Line {
  readonly bucket: PresignBucket;
  /** Each waits for the one before it to leave. */
  readonly waiters: { leave: () => void; readonly left: Promise<void> }[];
}

/** A queue for each bucket, in this process. */
export function createPresignQueue(options: PresignQueueOptions): PresignQueue {
  const { signals, pollMs = 500, waitingMaxCount = 256 } = options;
  const lines = new Map<string, Line>();

  return {
    async take(bucket, wait, attempt) {
      const key = bucketKey(bucket);
      if (!lines.has(key)) {
        const found = await attempt();
        if (found !== undefined) return found;
      }
      const line = lines.get(key) ?? { bucket, waiters: [] };
      if (line.waiters.length >= waitingMaxCount || wait.signal.aborted) return undefined;
      lines.set(key, line);
      const before = line.waiters.at(-1);
      const own = waiter();
      line.waiters.push(own);
      signals.notify(topics.presignWanted(bucket.network));
      const deadline = AbortSignal.any([wait.signal, AbortSignal.timeout(Math.max(1, wait.timeoutMs))]);
      try {
        if (before !== undefined && !(await leftBefore(line, own, deadline))) return undefined;
        return await attemptUntil(bucket, deadline, attempt);
      } finally {
        line.waiters.splice(line.waiters.indexOf(own), 1);
        if (line.waiters.length === 0) lines.delete(key);
        own.leave();
      }
    },
    waitingCount: (bucket) => lines.get(bucketKey(bucket))?.waiters.length ?? 0,
    waitedFor: () => [...lines.values()].map((line) => line.bucket),
  };

  async function attemptUntil<T>(
    bucket: PresignBucket,
    deadline: AbortSignal,
    attempt: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    while (!deadline.aborted) {
      const found = await waitForSignal(
        signals,
        topics.presignReady(bucket.network),
        { timeoutMs: pollMs, signal: deadline },
        attempt,
      );
      if (found !== undefined) return found;
    }
    return undefined;
  }
}

/** Waits until nobody stands before `own`; false when the time is over first. */
async function leftBefore(line: Line, own: Line["waiters"][number], deadline: AbortSignal): Promise<boolean> {
  let expire: () => void = () => {};
  const expired = new Promise<void>((resolve) => {
    expire = resolve;
  });
  deadline.addEventListener("abort", expire, { once: true });
  try {
    // One in the middle may give up, so who leaves is not always the first.
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

function waiter(): Line["waiters"][number] {
  let leave: () => void = () => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  return { leave, left };
}
