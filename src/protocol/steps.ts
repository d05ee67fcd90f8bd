/**
 * A long computation that offers to pause at each `yield`, every few milliseconds. Whoever runs it decides whether
 * something else may run meanwhile; it keeps no clock and no thread of its own.
 */
export type Steps<T> = Generator<void, T, void>;

/** Runs to the end without a pause. */
export function runSteps<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}
