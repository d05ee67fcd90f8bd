/**
 * A long computation that yields every few milliseconds. The caller decides whether to run something else in between;
 * the computation has no clock or thread of its own. If it yields a promise, the caller must await it before
 * continuing.
 */
export type Steps<T> = Generator<void | Promise<void>, T, void>;

/** Runs the computation to its end without a pause. Throws if it yields a promise. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== undefined) throw new Error("the computation waits for another thread");
  }
}
