import { type Clock, pause } from "../lifecycle/clock.ts";

/** Keeps calls of one class back when the fullnode says that they are too many. */
export interface BackOff {
  /**
   * Runs a call when no pause is on. A call that the fullnode refuses for being one too many begins a pause for all
   * calls of its class, with jitter, that doubles while refusals go on. Throws what the call throws.
   */
  run<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T>;
}

/**
 * What calls to the fullnode are for. `work` is what signatures and deposits on their way wait for, `background` what
 * the service looks at by itself, `callers` what one call of a project asks for.
 */
export type BackOffs = Readonly<Record<"work" | "background" | "callers", BackOff>>;

const BASE_MS = 250;
const LIMIT_MS = 15_000;

/**
 * The classes of one fullnode. A pause holds for its class and for those that matter less, never for those that matter
 * more.
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
  /** When the pause is over, its own or that of a class above. */
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
        // Calls that were under way when the pause began do not lengthen it.
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

/** The codes by which gRPC and HTTP say so, wherever a client wraps them. */
const CODES = ["RESOURCE_EXHAUSTED", "8", "429"];

function isTooMuch(error: unknown, depth = 0): boolean {
  if (!(error instanceof Error) || depth > 3) return false;
  return ("code" in error && CODES.includes(String(error.code))) || isTooMuch(error.cause, depth + 1);
}
