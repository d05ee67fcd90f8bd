import { withDeadline } from "../../chain/with-deadline.ts";
import { systemClock } from "../../lifecycle/clock.ts";

/** What a check found. `info` is nothing to act on; `skip` could not be looked at, for a reason told elsewhere. */
export interface Finding {
  readonly status: "ok" | "info" | "warn" | "fail" | "skip";
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string;
}

/** A finding and what it is about. */
export interface NamedFinding extends Finding {
  readonly name: string;
}

/** One thing to look at. */
export interface DoctorCheck {
  readonly name: string;
  /** What to do when looking fails. */
  readonly advice: string;
  /** What it throws is a failure, but {@link NotChecked} is not. */
  look(): Promise<Finding>;
}

/** A check cannot be made, for a reason that another one tells. */
export class NotChecked extends Error {
  override readonly name = "NotChecked";
}

/** Makes all checks at once, each within its time, and returns what they found in their order. Never throws. */
export function runChecks(checks: readonly DoctorCheck[], timeoutMs: number): Promise<NamedFinding[]> {
  return Promise.all(
    checks.map(async ({ name, advice, look }) => {
      try {
        return { name, ...(await withDeadline(systemClock, timeoutMs, () => look())) };
      } catch (error) {
        if (error instanceof NotChecked)
          return { name, status: "skip", found: `not checked: ${error.message}` };
        return { name, status: "fail", found: messageOf(error), advice };
      }
    }),
  );
}

/** Something that several checks need: made once, at the first need. */
export function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

/** Waits for what a check needs; throws {@link NotChecked} where it is not to be had. */
export async function needed<T>(thing: Promise<T>, otherwise: string): Promise<T> {
  try {
    return await thing;
  } catch {
    throw new NotChecked(otherwise);
  }
}

/** The first line of an error, with the one that caused it. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? `: ${error.cause.message}` : "";
  const text = error.message || ("code" in error ? String(error.code) : error.name);
  return `${text}${cause}`.split("\n")[0] ?? "";
}
