import type { Clock } from "../lifecycle/clock.ts";
import { pause } from "../lifecycle/clock.ts";
import { Lifecycle } from "../lifecycle/lifecycle.ts";
import type { Log } from "../telemetry/log.ts";

/**
 * Opens a network, and tries again after each failure, with pauses that double up to a minute. Each attempt has a
 * lifecycle of its own, so that a failed one leaves nothing behind. `first` tells how the first attempt ended; without
 * `isRetried` it is the only one.
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
      // An attempt may wait for a fullnode for long, so its end is not awaited: it can start nothing any more.
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
  /** Ends with the first attempt, and rejects with its failure. */
  readonly first: Promise<T>;
  /** Undefined while it is not open. */
  opened(): T | undefined;
  /** Ends the attempts, and stops what is open. Returns whether every part stopped by itself and in time. */
  stop(): Promise<boolean>;
}

export interface KeepOpenOptions<T> {
  /** Opens it. Registers all parts with this lifecycle. */
  readonly open: (lifecycle: Lifecycle) => Promise<T>;
  readonly clock: Clock;
  readonly log: Pick<Log, "info" | "error">;
  /** Whether there are attempts after the first one. */
  readonly isRetried: boolean;
}

const FIRST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;

const wrap = (cause: unknown): { readonly cause: unknown } => ({ cause });
