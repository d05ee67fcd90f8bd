import type { Log } from "../telemetry/logger.ts";
import { type Clock, pause } from "./clock.ts";
import { Lifecycle } from "./lifecycle.ts";

/**
 * Opens a network in the background, and retries after each failure with exponential back-off, up to a minute. Each
 * attempt has its own lifecycle, so that a failed one leaves nothing behind.
 */
export function keepOpen<T>({ open, clock, log, isRetried }: KeepOpenOptions<T>): KeptOpen<T> {
  const stopping = new AbortController();
  let lifecycle: Lifecycle | undefined;
  let opened: T | undefined;
  const attempt = async (): Promise<T> => {
    const own = new Lifecycle({ log });
    lifecycle = own;
    try {
      const found = await open(own);
      opened = found;
      return found;
    } catch (cause) {
      await own.stop();
      throw cause;
    }
  };
  const first = attempt();
  const running = run();
  return {
    first,
    opened: () => opened,
    async stop() {
      stopping.abort();
      // Does not await a pending attempt, which may wait long for a fullnode but can no longer start anything.
      const isClean = await lifecycle?.stop();
      if (opened !== undefined) await running;
      return isClean ?? true;
    },
  };

  async function run(): Promise<void> {
    let failure = await first.then(() => undefined, wrap);
    for (let retryMs = FIRST_PAUSE_MS; failure !== undefined && isRetried; retryMs *= 2) {
      if (stopping.signal.aborted) return;
      const pauseMs = Math.min(retryMs, LONGEST_PAUSE_MS);
      log.error(
        { cause: failure.cause, retryMs: pauseMs },
        "the network cannot be opened; its calls are refused",
      );
      await pause(clock, pauseMs, stopping.signal).catch(() => {});
      if (stopping.signal.aborted) return;
      failure = await attempt().then(() => undefined, wrap);
      if (failure === undefined) log.info({}, "the network is open");
    }
  }
}

/** A network that is opened in the background. */
export interface KeptOpen<T> {
  /** Resolves or rejects with the first attempt. */
  readonly first: Promise<T>;
  /** Returns the network; undefined while it is not open. */
  opened(): T | undefined;
  /** Ends the attempts, and stops the open network. Returns true if every part stopped cleanly and in time. */
  stop(): Promise<boolean>;
}

export interface KeepOpenOptions<T> {
  /** Opens the network and registers all its parts with this lifecycle. */
  readonly open: (lifecycle: Lifecycle) => Promise<T>;
  readonly clock: Clock;
  readonly log: Log;
  /** True to retry after a failed first attempt. */
  readonly isRetried: boolean;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

const wrap = (cause: unknown): { readonly cause: unknown } => ({ cause });
