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

/** Background work that runs until it is stopped. */
export interface Loop {
  start(): void;
  stop(): Promise<void>;
}
