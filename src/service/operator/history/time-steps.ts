import { invalidField } from "../../platform/errors/service-error.ts";
import { DAY_MS } from "../../platform/lifecycle/clock.ts";

/**
 * Returns the window and the steps of a request for figures over time. A window without an end ends with the
 * current step, so that repeated requests have the same steps. Throws VALIDATION, naming the field.
 */
export function timeSteps(
  { start, end, stepSeconds }: WantedWindow,
  { now, defaultMs, maxMs, leastStepSeconds = 60 }: WindowBounds,
): TimeSteps {
  const about = (end ?? now).getTime() - (start?.getTime() ?? (end ?? now).getTime() - defaultMs);
  const step = stepSeconds || Math.max(leastStepSeconds, Math.ceil(about / 1000 / DEFAULT_STEP_COUNT));
  if (step < leastStepSeconds)
    throw invalidField("step_seconds", `must be 0 or at least ${leastStepSeconds}`);
  const stepMs = step * 1000;
  const endMs = end?.getTime() ?? (Math.floor(now.getTime() / stepMs) + 1) * stepMs;
  const startMs = start?.getTime() ?? endMs - defaultMs;
  if (startMs >= endMs) throw invalidField("start_time", "must be before the end of the window");
  // A window up to now includes its current step in full.
  if (endMs - startMs > maxMs + (end === undefined ? stepMs : 0))
    throw invalidField("start_time", `must be at most ${maxMs / DAY_MS} days before the end of the window`);
  if ((endMs - startMs) / stepMs > MAX_STEP_COUNT)
    throw invalidField("step_seconds", `must divide the window into at most ${MAX_STEP_COUNT} steps`);
  return { start: new Date(startMs), end: new Date(endMs), stepSeconds: step };
}

export interface WantedWindow {
  readonly start: Date | undefined;
  readonly end: Date | undefined;
  /** 0 means a default. */
  readonly stepSeconds: number;
}

export interface WindowBounds {
  readonly now: Date;
  /** The length of a window without a start. */
  readonly defaultMs: number;
  readonly maxMs: number;
  /** Default: a minute. */
  readonly leastStepSeconds?: number;
}

/** A window from `start`, inclusive, to `end`, exclusive, and its steps. */
export interface TimeSteps {
  readonly start: Date;
  readonly end: Date;
  /** The last step may be shorter. */
  readonly stepSeconds: number;
}

const DEFAULT_STEP_COUNT = 60;
const MAX_STEP_COUNT = 500;
