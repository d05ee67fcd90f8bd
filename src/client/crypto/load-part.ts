import { unlessAborted } from "../../protocol/unless-aborted.ts";

/**
 * Loads a part of the code on demand. `load` is `() => import("./part.ts")`, so that a bundler sees the module. The
 * caller continues in a new task after the module's evaluation. Rejects with a {@link PartMissingError}, or at once
 * with the signal's reason when it aborts.
 */
export async function loadPart<Part>(load: () => Promise<Part>, signal?: AbortSignal): Promise<Part> {
  signal?.throwIfAborted();
  const part = load().then(
    async (loaded) => {
      await nextTask();
      return loaded;
    },
    (cause: unknown) => {
      throw new PartMissingError("a part of the client's code could not be loaded", { cause });
    },
  );
  return await unlessAborted(part, signal);
}

/** Thrown if a part of the code cannot be loaded, such as a chunk of a web page that was deployed again. */
export class PartMissingError extends Error {
  override readonly name = "PartMissingError";
}

/** Resolves in a new task. A message channel has no delay; browsers add milliseconds to nested timers. */
export function nextTask(): Promise<void> {
  // React Native has no message channels.
  if (typeof MessageChannel === "undefined") return new Promise((resolve) => void setTimeout(resolve, 0));
  const { port1, port2 } = new MessageChannel();
  return new Promise((resolve) => {
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
