import { setTimeout as sleep } from "node:timers/promises";

/** Keeps the whole process back when the fullnode says that it is too much. */
export interface Pressure {
  /**
   * Runs a call when no pause is on. A call that the fullnode refuses for being one too many begins a pause for all
   * calls of the process, with jitter, that doubles while refusals go on. Throws what the call throws.
   */
  run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

const BASE_MS = 250;
const LIMIT_MS = 15_000;

/** One for each fullnode. `now` is in milliseconds, of any origin. */
export function createPressure(now: () => number = () => performance.now()): Pressure {
  let untilMs = 0;
  let refusals = 0;
  return {
    async run(call, signal) {
      for (let waitMs = untilMs - now(); waitMs > 0; waitMs = untilMs - now())
        await sleep(waitMs, undefined, signal ? { signal } : {});
      try {
        const result = await call();
        refusals = 0;
        return result;
      } catch (error) {
        // Calls that were under way when the pause began do not lengthen it.
        if (isTooMuch(error) && untilMs <= now()) {
          const pauseMs = Math.min(BASE_MS * 2 ** refusals, LIMIT_MS);
          refusals++;
          untilMs = now() + pauseMs * (0.5 + Math.random() / 2);
        }
        throw error;
      }
    },
  };
}

/** The codes by which gRPC and HTTP say so, wherever a client wraps them. */
const CODES = ["RESOURCE_EXHAUSTED", "8", "429"];

function isTooMuch(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 3) return false;
  return ("code" in error && CODES.includes(String(error.code))) || isTooMuch(error.cause, depth + 1);
}
