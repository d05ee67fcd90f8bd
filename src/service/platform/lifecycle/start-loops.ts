import type { Lifecycle } from "./lifecycle.ts";

/** Starts loops in order, each as a named part of the lifecycle. */
export async function startLoops(lifecycle: Lifecycle, loops: readonly NamedLoop[]): Promise<void> {
  for (const { name, loop } of loops) {
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
export async function startLoopsTogether(lifecycle: Lifecycle, loops: readonly NamedLoop[]): Promise<void> {
  const stoppedOnce = loops.map(({ name, loop }) => ({ name, loop: stopsOnce(loop) }));
  for (const { loop } of stoppedOnce) lifecycle.onStopping(() => void loop.stop().catch(() => {}));
  await startLoops(lifecycle, stoppedOnce);
}

/** A loop under the name that the log has for it. */
export interface NamedLoop {
  readonly name: string;
  readonly loop: Loop;
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
