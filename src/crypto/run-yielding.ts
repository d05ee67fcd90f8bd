import type { Steps } from "../protocol/steps.ts";

/** How long the event loop waits at most, about; a step may be somewhat longer. */
const SLICE_MS = 20;

/**
 * Runs a long computation in slices: after each one the event loop handles what came up meanwhile. Throws the signal's
 * reason once it is aborted.
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
      do {
        const step = steps.next();
        if (step.done === true) return step.value;
      } while (performance.now() < end);
      await nextTask();
    }
  } finally {
    // Overwrites what an aborted computation holds.
    steps.return(undefined as T);
  }
}

/** A task of its own, without the milliseconds that browsers add to nested timers. */
function nextTask(): Promise<void> {
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
