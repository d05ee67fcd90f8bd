import type { Log } from "../telemetry/logger.ts";
import type { Clock } from "./clock.ts";

/**
 * Creates a loop that runs one pass at a time. It logs a failed pass and retries after a pause. A failure never ends
 * the loop.
 */
export function createBackgroundLoop(options: BackgroundLoopOptions): BackgroundLoop {
  const { name, pass, intervalMs, clock, log, maxBackoffMs = DEFAULT_MAX_BACKOFF_MS } = options;
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let isWoken = false;
  let interrupt: () => void = () => {};
  let unsubscribe: (() => void) | undefined;

  return {
    start() {
      unsubscribe ??= options.wakeOn?.(wake);
      running ??= run();
    },
    wake,
    async stop() {
      unsubscribe?.();
      stopping.abort();
      interrupt();
      await running;
    },
  };

  function wake(): void {
    isWoken = true;
    interrupt();
  }

  async function run(): Promise<void> {
    let failedCount = 0;
    while (!stopping.signal.aborted) {
      isWoken = false;
      let result: PassResult = false;
      try {
        result = await pass(stopping.signal);
        failedCount = 0;
      } catch (cause) {
        failedCount++;
        if (!stopping.signal.aborted)
          log.error({ loop: name, failedCount, cause }, "a background pass failed");
      }
      if (failedCount > 0) {
        // A wake-up does not shorten the pause, because the pass would fail again.
        await pause(Math.min(intervalMs * 2 ** Math.min(failedCount - 1, 16), maxBackoffMs), false);
      } else if (result !== true && !isWoken) {
        await pause(result ? result.restMs : intervalMs, true);
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

/** A loop that runs passes in the background. */
export interface BackgroundLoop {
  /** Starts with a pass at once. A second call does nothing. */
  start(): void;
  /** Requests a pass now, or another one right after the running one. */
  wake(): void;
  /** Ends the pause, aborts the signal, waits for the running pass, and starts no other. */
  stop(): Promise<void>;
}

export interface BackgroundLoopOptions {
  readonly name: string;
  /** Runs one pass. The signal fires when the loop stops. */
  readonly pass: (signal: AbortSignal) => Promise<PassResult>;
  /** Calls the given `wake` for every signal until the returned function is called. Default: no signal wakes the loop. */
  readonly wakeOn?: ((wake: () => void) => () => void) | undefined;
  /** The time between two passes, unless a pass returns another. */
  readonly intervalMs: number;
  readonly clock: Clock;
  readonly log: Log;
  /** The longest pause after failed passes. The pause starts with `intervalMs` and doubles. Default 30 s. */
  readonly maxBackoffMs?: number;
}

/**
 * What follows a pass: another pass at once if true, or after the loop's interval, or after `restMs` if nothing is to do
 * before that without a wake-up.
 */
export type PassResult = boolean | undefined | { readonly restMs: number };

const DEFAULT_MAX_BACKOFF_MS = 30_000;
