import type { Lifecycle } from "./lifecycle.ts";

/** Starts loops in order, each as a named part of the lifecycle. */
export async function startLoops(
  lifecycle: Pick<Lifecycle, "start">,
  loops: Readonly<Record<string, Loop>>,
): Promise<void> {
  for (const [name, loop] of Object.entries(loops)) {
    await lifecycle.start(
      name,
      () => {
        loop.start();
        return loop;
      },
      (started) => started.stop(),
    );
  }
}

/**
 * Starts loops like {@link startLoops}, but stops all of them at once when the lifecycle begins to stop. Passes that
 * wait for the same hanging server then end together, and the stop takes only as long as one of them.
 */
export async function startLoopsTogether(
  lifecycle: Pick<Lifecycle, "start" | "onStopping">,
  loops: Readonly<Record<string, Loop>>,
): Promise<void> {
  const stoppedOnce = Object.entries(loops).map(([name, loop]) => [name, stopsOnce(loop)] as const);
  for (const [, loop] of stoppedOnce) lifecycle.onStopping(() => void loop.stop().catch(() => {}));
  await startLoops(lifecycle, Object.fromEntries(stoppedOnce));
}

/** Background work that runs until it is stopped. */
export interface Loop {
  start(): void;
  stop(): Promise<void>;
}

function stopsOnce(loop: Loop): Loop {
  let stopped: Promise<void> | undefined;
  return {
    start: () => loop.start(),
    stop() {
      stopped ??= loop.stop();
      return stopped;
    },
  };
}
