import type { Lifecycle } from "./lifecycle.ts";

/** Starts loops in their order, each as a part of the lifecycle under its name. */
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

/** Work that goes on in the background until it is stopped. */
export interface Loop {
  start(): void;
  stop(): Promise<void>;
}
