import type { Log } from "../telemetry/log.ts";
import type { Clock } from "./clock.ts";

/** A loop that runs one pass at a time. A pass that fails is logged and tried again after a pause; it never ends it. */
export function createBackgroundLoop(options: BackgroundLoopOptions): BackgroundLoop {
  const { name, pass, intervalMs, clock, log, maxBackoffMs = DEFAULT_MAX_BACKOFF_MS } = options;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let isWoken = false;
  let interrupt: () => void = () => {};

  return {
    start() {
      running ??= run();
    },
    wake() {
      isWoken = true;
      interrupt();
    },
    async stop() {
      stopping.abort();
      interrupt();
      await running;
    },
  };

  async function run(): Promise<void> {
    let failedCount = 0;
    while (!stopping.signal.aborted) {
      isWoken = false;
      let hasMore = false;
      try {
        hasMore = (await pass(stopping.signal)) === true;
        failedCount = 0;
      } catch (cause) {
        failedCount++;
        if (!stopping.signal.aborted)
          log.error({ loop: name, failedCount, cause }, "a background pass failed");
      }
      if (failedCount > 0) {
        // A wake-up does not shorten the pause: what failed would fail again, as often as it is called for.
        await pause(Math.min(intervalMs * 2 ** Math.min(failedCount - 1, 16), maxBackoffMs), false);
      } else if (!hasMore && !isWoken) {
        await pause(intervalMs, true);
      }
    }
  }

  function pause(durationMs: number, canWake: boolean): Promise<void> {
    return new Promise((resolve) => {
      if (stopping.signal.aborted) return resolve();
      const cancel = clock.after(durationMs, end);
      interrupt = () => {
        if (canWake || stopping.signal.aborted) end();
      };
      function end(): void {
        cancel();
        interrupt = () => {};
        resolve();
      }
    });
  }
}

/** Work that is done again and again in the background. */
export interface BackgroundLoop {
  /** Begins with a pass at once. A second call does nothing. */
  start(): void;
  /** Asks for a pass now, or for another one right after the one under way. */
  wake(): void;
  /** Aborts the wait, lets the pass under way end, and begins no other. */
  stop(): Promise<void>;
}

export interface BackgroundLoopOptions {
  readonly name: string;
  /** One pass. Returns true if there is more to do at once. The signal fires when the loop is asked to stop. */
  readonly pass: (signal: AbortSignal) => Promise<boolean | undefined>;
  /** The longest time between two passes. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Pick<Log, "error">;
  /** The longest pause after failed passes; it begins with `intervalMs` and doubles. Default 30 s. */
  readonly maxBackoffMs?: number;
}

const DEFAULT_MAX_BACKOFF_MS = 30_000;
