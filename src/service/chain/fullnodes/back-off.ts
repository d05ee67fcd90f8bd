import { type Clock, pause } from "../../platform/lifecycle/clock.ts";

/** Delays the calls of one class after the fullnode has rate-limited one of them. */
export interface BackOff {
  /**
   * Runs a call after the current pause, if any. When the fullnode rate-limits a call, all calls of its class pause.
   * The pause has jitter and doubles while refusals continue. Throws the error of the call.
   */
  run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/**
 * The purpose of calls to the fullnode: `work` for open signatures and deposits, `background` for the service's own
 * observations, `callers` for the calls of projects.
 */
export type BackOffs = Readonly<Record<"work" | "background" | "callers", BackOff>>;

const BASE_MS = 250;
const LIMIT_MS = 15_000;

/**
 * The classes of one fullnode. A pause applies to its class and to less important classes, never to more important
 * ones.
 */
export function createBackOffs(clock: Clock): BackOffs {
  const work = createBackOff(clock, () => 0);
  const background = createBackOff(clock, work.untilMs);
  const callers = createBackOff(clock, background.untilMs);
  return { work, background, callers };
}

function createBackOff(
  clock: Clock,
  aboveUntilMs: () => number,
): BackOff & {
  /** The end of the pause: its own, or that of a more important class. */
  readonly untilMs: () => number;
} {
  let ownUntilMs = 0;
  let refusals = 0;
  const untilMs = () => Math.max(ownUntilMs, aboveUntilMs());
  return {
    untilMs,
    async run(call, signal) {
      for (let waitMs = untilMs() - clock.now(); waitMs > 0; waitMs = untilMs() - clock.now())
        await pause(clock, waitMs, signal);
      try {
        const result = await call();
        refusals = 0;
        return result;
      } catch (error) {
        // Calls that started before the pause do not extend it.
        if (isTooMuch(error) && ownUntilMs <= clock.now()) {
          const pauseMs = Math.min(BASE_MS * 2 ** refusals, LIMIT_MS);
          refusals++;
          ownUntilMs = clock.now() + pauseMs * (0.5 + Math.random() / 2);
        }
        throw error;
      }
    },
  };
}

/** The rate-limit codes of gRPC and HTTP, on an error or on one of its causes. */
const CODES = ["RESOURCE_EXHAUSTED", "8", "429"];

function isTooMuch(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 3) return false;
  return ("code" in error && CODES.includes(String(error.code))) || isTooMuch(error.cause, depth + 1);
}
