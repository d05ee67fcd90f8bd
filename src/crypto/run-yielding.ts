import type { Steps } from "../protocol/steps.ts";
import { nextTask } from "./next-task.ts";

/**
 * Runs a long computation in slices and lets the event loop run in between. Throws the signal's reason when it aborts,
 * also while the computation waits.
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
    // Lets an aborted computation overwrite its secrets.
    steps.return(undefined as T);
  }
}

/** The approximate length of a slice. A step may take slightly longer. */
const SLICE_MS = 20;

/** Resolves with the promise or when the signal aborts. The caller checks the signal. */
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
