import type { LifecycleLog } from "./lifecycle.ts";

/**
 * Waits for SIGTERM or SIGINT, then stops everything. A second signal ends the process at once.
 * @returns the exit code: 0 after a clean stop, else 1
 */
export async function runUntilSignal({
  signals,
  log,
  stop,
  exit,
  nowMs = () => performance.now(),
}: RunOptions): Promise<number> {
  let firstAtMs: number | undefined;
  let begin: (signal: string) => void = () => {};
  const first = new Promise<string>((resolve) => {
    begin = resolve;
  });
  const listeners = SIGNALS.map((signal) => ({
    signal,
    listener: () => {
      if (firstAtMs !== undefined) {
        if (nowMs() - firstAtMs < ECHO_MS) return;
        log.error({ signal }, "second signal: stopping at once");
        exit(FORCED_EXIT_CODE);
        return;
      }
      firstAtMs = nowMs();
      begin(signal);
    },
  }));
  for (const { signal, listener } of listeners) signals.on(signal, listener);
  try {
    const signal = await first;
    log.info({ signal }, "stopping");
    return (await stop()) ? 0 : FORCED_EXIT_CODE;
  } catch (cause) {
    log.error({ cause }, "stopping failed");
    return FORCED_EXIT_CODE;
  } finally {
    for (const { signal, listener } of listeners) signals.off(signal, listener);
  }
}

/** The source of signals: the process, or a substitute. */
export interface SignalSource {
  on(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  off(signal: "SIGTERM" | "SIGINT", listener: () => void): unknown;
}

export interface RunOptions {
  readonly signals: SignalSource;
  readonly log: LifecycleLog;
  /** Stops everything. @returns true if nothing had to be forced */
  readonly stop: () => Promise<boolean>;
  /** Ends the process at once. Called only for the second signal. */
  readonly exit: (code: number) => void;
  /** A monotonic clock in milliseconds. Default: the process's own. */
  readonly nowMs?: (() => number) | undefined;
}

const SIGNALS = ["SIGTERM", "SIGINT"] as const;
const FORCED_EXIT_CODE = 1;
/**
 * A second signal within this time comes from the same key press: a terminal sends Ctrl-C to npm and to the service,
 * and npm forwards it.
 */
const ECHO_MS = 1_000;
