import type { ActionOptions } from "../../action.ts";
import type { ClientContext } from "../../context.ts";
import { TssError } from "../../errors.ts";
import { sign } from "./sign.ts";
import type { SignArgs } from "./sign-args.ts";
import type { SignResult, SignStage } from "./sign-within.ts";

/**
 * Signs several messages, a bounded number at a time. The results have the order of the items, like those of
 * `Promise.allSettled`: a failed item does not affect the others. A rejection's reason is always a {@link TssError}.
 *
 * @throws {TssError} VALIDATION when an option is malformed.
 *
 * @example
 * const results = await client.signMany(messages.map((message) => ({ ...key, ...algorithm, message })));
 * for (const result of results) if (result.status === "rejected") console.error(result.reason);
 */
export async function signMany(
  context: ClientContext,
  items: readonly SignManyItem[],
  options: SignManyOptions = {},
): Promise<PromiseSettledResult<SignResult>[]> {
  const { concurrency = DEFAULT_CONCURRENCY, onProgress, onResumeToken, signal, traceparent } = options;
  if (!Number.isInteger(concurrency) || concurrency < 1 || concurrency > MAX_CONCURRENCY)
    throw new TssError("VALIDATION", `concurrency: a whole number from 1 to ${MAX_CONCURRENCY}`);
  const results: PromiseSettledResult<SignResult>[] = [];
  const owned = items.map(copyOf);
  const waiting = owned.entries();
  const work = async (): Promise<void> => {
    for (const [index, item] of waiting) {
      try {
        const { idempotencyKey, ...args } = item;
        const value = await sign(context, args, {
          idempotencyKey,
          signal,
          traceparent,
          onResumeToken: onResumeToken && ((token) => onResumeToken(index, token)),
          onProgress: onProgress && ((stage, elapsedMs) => onProgress(index, stage, elapsedMs)),
        });
        results[index] = { status: "fulfilled", value };
      } catch (error) {
        const reason =
          error instanceof TssError
            ? error
            : new TssError("VALIDATION", `items[${index}]: is not an arguments object`, { cause: error });
        results[index] = { status: "rejected", reason };
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, items.length) }, work));
  for (const item of owned) if (item?.seed instanceof Uint8Array) item.seed.fill(0);
  return results;
}

/** One item of `signMany`. */
export interface SignManyItem extends SignArgs {
  /** Like `idempotencyKey` of `sign`. */
  readonly idempotencyKey?: string | undefined;
}

/** Options of `signMany`. */
export interface SignManyOptions extends Pick<ActionOptions, "signal" | "traceparent"> {
  /** The maximum number of concurrent signatures, 1 to 64. Default 8. */
  readonly concurrency?: number | undefined;
  /** Called when a signature begins a stage, with its index and the milliseconds since its own start. */
  readonly onProgress?: ((index: number, stage: SignStage | "done", elapsedMs: number) => void) | undefined;
  /** Like `onResumeToken` of `sign`, with the signature's index. */
  readonly onResumeToken?: ((index: number, token: string) => void | Promise<void>) | undefined;
}

const DEFAULT_CONCURRENCY = 8;
const MAX_CONCURRENCY = 64;

/** Copies an item, so that a waiting item does not change when the caller reuses its buffers. */
function copyOf(item: SignManyItem): SignManyItem {
  // A non-object is rejected later, as the result of its own item.
  if (typeof item !== "object" || item === null) return item;
  const { seed, message } = item;
  return {
    ...item,
    ...(seed instanceof Uint8Array && { seed: Uint8Array.from(seed) }),
    ...(message instanceof Uint8Array && { message: Uint8Array.from(message) }),
  };
}
