/**
 * A long computation that offers to pause at each `yield`, every few milliseconds. Whoever runs it decides whether
 * something else may run meanwhile; it keeps no clock and no thread of its own. Where it yields a promise it has to wait
 * for it.
 */
export type Steps<T> = Generator<void | Promise<void>, T, void>;

/** Runs to the end without a pause. Throws for a computation that waits for something. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
    if (step.value !== undefined) throw new Error("the computation waits for another thread");
  }
}
