import type { Steps } from "../protocol/steps.ts";
import { nextTask } from "./next-task.ts";

/** How long the event loop waits at most, about; a step may be somewhat longer. */
const SLICE_MS = 20;

/**
 * Runs a long computation in slices: after each one the event loop handles what came up meanwhile. Throws the signal's
 * reason once it is aborted, also while the computation waits.
 */
export async function runYielding<T>(
  steps: Steps<T>,
  {
    sliceMs = SLICE_MS,
    signal,
  }: { readonly sliceMs?: number; readonly signal?: AbortSignal | undefined } = {},
): Promise<T> {
  try {
    for (;;) {
      signal?.throwIfAborted();
      const end = performance.now() + sliceMs;
      let waiting: Promise<void> | undefined;
      do {
        const step = steps.next();
        if (step.done === true) return step.value;
        if (step.value !== undefined) waiting = step.value;
      } while (waiting === undefined && performance.now() < end);
      await (waiting === undefined ? nextTask() : untilAborted(waiting, signal));
    }
  } finally {
    // Overwrites what an aborted computation holds.
    steps.return(undefined as T);
  }
}

/** Ends with the promise, or once the signal is aborted, which the caller looks for. */
async function untilAborted(promise: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  if (signal === undefined) return await promise;
  let wake = (): void => {};
  const aborted = new Promise<void>((resolve) => {
    wake = resolve;
  });
  signal.addEventListener("abort", wake);
  try {
    await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", wake);
  }
}
