import type { ChainReader } from "./chain-reader.ts";
import { FinalReadError, NetworkRejectedError } from "./read-errors.ts";

/**
 * Calls `look` until it returns something other than undefined, and returns that. An error of `look` ends the poll
 * unless it is transient; rejected states end it this way.
 * Each call receives a signal that aborts with the caller's signal or at the time-out.
 */
export async function poll<T>(
  look: (signal: AbortSignal) => Promise<T | undefined>,
  options: PollOptions,
): Promise<T> {
  const deadline = performance.now() + options.timeoutMs;
  const maxIntervalMs = options.maxIntervalMs ?? 500;
  let intervalMs = Math.min(options.initialIntervalMs ?? 50, maxIntervalMs);
  let lastError: unknown;
  for (;;) {
    options.signal?.throwIfAborted();
    const remainingMs = deadline - performance.now();
    if (remainingMs <= 0) throw new PollTimeoutError("time is up", { cause: lastError });
    const timeout = AbortSignal.timeout(Math.ceil(remainingMs));
    const signal = options.signal === undefined ? timeout : AbortSignal.any([options.signal, timeout]);
    try {
      const found = await look(signal);
      if (found !== undefined) return found;
    } catch (error) {
      options.signal?.throwIfAborted();
      if (timeout.aborted) throw new PollTimeoutError("time is up", { cause: error });
      if (options.isTransient?.(error) !== true) throw error;
      lastError = error;
    }
    await sleep(Math.min(intervalMs, Math.max(0, deadline - performance.now())), options.signal);
    intervalMs = Math.min(intervalMs * (options.backoffFactor ?? 1.5), maxIntervalMs);
  }
}

/** The waits and limits of a poll. */
export interface PollOptions {
  /** The poll rejects with {@link PollTimeoutError} after this time, counted from its start. */
  readonly timeoutMs: number;
  /** The wait after the first attempt; default 50 ms. */
  readonly initialIntervalMs?: number;
  /** The longest wait; default 500 ms. */
  readonly maxIntervalMs?: number;
  /** The factor between consecutive waits; default 1.5. */
  readonly backoffFactor?: number;
  /** The poll rejects with the signal's reason when it aborts. */
  readonly signal?: AbortSignal | undefined;
  /** Selects the errors of an attempt that are retried; default none. The last one becomes the time-out's cause. */
  readonly isTransient?: (error: unknown) => boolean;
}

/** Thrown when a poll times out. The awaited event may still happen. */
export class PollTimeoutError extends Error {
  override readonly name = "PollTimeoutError";
}

/** Waits for this time. Rejects with the signal's reason when the signal aborts. */
export function sleep(durationMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason);
      return;
    }
    const abort = (): void => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, durationMs);
    signal?.addEventListener("abort", abort, { once: true });
  });
}

/**
 * Polls one object until it is in one of the wanted states, and returns it. A state that contains `Rejected` ends the
 * poll with {@link NetworkRejectedError}. (The Ika SDK polls until its time-out in that case.) The poll continues until
 * its time-out while the object does not exist or the fullnode does not answer. A {@link FinalReadError} ends it.
 */
export function pollObject<T extends Stateful, K extends T["state"]["kind"]>(
  reader: ChainReader,
  objectId: string,
  parse: (content: Uint8Array) => T,
  wanted: readonly K[],
  options: Omit<PollOptions, "isTransient">,
): Promise<T & { readonly state: Extract<T["state"], { readonly kind: K }> }> {
  return poll(
    async (signal) => {
      const content = (await readObjects(reader, objectId, signal)).get(objectId);
      if (content === undefined) return undefined;
      const object = parse(content);
      if (isIn(object, wanted)) return object;
      const { kind } = object.state;
      if (kind.includes("Rejected")) throw new NetworkRejectedError(objectId, kind);
      return undefined;
    },
    { ...options, isTransient: (error) => error instanceof UnansweredError },
  );
}

interface Stateful {
  readonly state: { readonly kind: string };
}

function isIn<T extends Stateful, K extends string>(
  object: T,
  wanted: readonly K[],
): object is T & { readonly state: Extract<T["state"], { readonly kind: K }> } {
  return (wanted as readonly string[]).includes(object.state.kind);
}

/** Marks a failed read, as opposed to a defect of the object that was read. */
class UnansweredError extends Error {
  override readonly name = "UnansweredError";
}

async function readObjects(
  reader: ChainReader,
  objectId: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Uint8Array>> {
  try {
    return await reader.getObjects([objectId], signal);
  } catch (cause) {
    if (cause instanceof FinalReadError) throw cause;
    throw new UnansweredError("the fullnode does not answer", { cause });
  }
}
