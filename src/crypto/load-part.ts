import { nextTask } from "./next-task.ts";

/** Thrown when a part of the code cannot be loaded, such as a chunk of a page whose files were replaced meanwhile. */
export class PartMissingError extends Error {
  override readonly name = "PartMissingError";
}

/**
 * Loads a part of the code that is not needed from the start: `load` is `() => import("./part.ts")`, so that a bundler
 * sees the module. Its evaluation is a task apart from what its caller does next. Rejects with a {@link PartMissingError}, and at once with the signal's reason when it is aborted.
 */
export async function loadPart<Part>(
  load: () => Promise<Part>,
  signal: AbortSignal = new AbortController().signal,
): Promise<Part> {
  signal.throwIfAborted();
  let abort = (): void => {};
  const aborted = new Promise<never>((_, reject) => {
    abort = () => reject(signal.reason);
  });
  signal.addEventListener("abort", abort);
  const part = load().then(
    async (loaded) => {
      await nextTask();
      return loaded;
    },
    (cause: unknown) => {
      throw new PartMissingError("a part of the client's code could not be loaded", { cause });
    },
  );
  try {
    return await Promise.race([part, aborted]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
