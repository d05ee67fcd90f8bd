import { Code, ConnectError } from "@connectrpc/connect";
import { bodyOf, type ServerRequest } from "./node-http.ts";

/**
 * Yields the chunks of a request's body. Throws RESOURCE_EXHAUSTED for a length above the limit, DEADLINE_EXCEEDED when
 * the body is not complete in time, the reason of `late` when that fires first, and CANCELED when the caller is gone.
 * Stopping early leaves the connection usable for the reply.
 */
export async function* readBody(request: ServerRequest, bounds: ReadBounds): AsyncGenerator<Uint8Array> {
  const { timeoutMs, late, maxBytes } = bounds;
  if (maxBytes !== undefined && Number(request.headers["content-length"] ?? 0) > maxBytes) {
    throw new ConnectError(`the body is larger than ${maxBytes} bytes`, Code.ResourceExhausted);
  }
  const chunks: AsyncIterator<Uint8Array> = bodyOf(request).iterator({ destroyOnReturn: false });
  let refuse: (reason: unknown) => void = () => {};
  const refused = new Promise<never>((_, reject) => {
    refuse = reject;
  });
  // Without this handler, a rejection that is not awaited would be unhandled.
  refused.catch(() => {});
  const onTimeout = () => refuse(new ConnectError("the body did not arrive in time", Code.DeadlineExceeded));
  const timer = timeoutMs === undefined ? undefined : setTimeout(onTimeout, timeoutMs);
  const onLate = () => refuse(late?.reason);
  late?.addEventListener("abort", onLate, { once: true });
  if (late?.aborted) onLate();
  try {
    for (;;) {
      const result = await Promise.race([nextChunk(chunks), refused]);
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    clearTimeout(timer);
    late?.removeEventListener("abort", onLate);
    // Releases the request, so that the rest of its body can be discarded.
    void chunks.return?.();
  }
}

/** Limits of {@link readBody}; a stream of messages has none. */
export interface ReadBounds {
  readonly timeoutMs?: number;
  /** Fires when a body that is still incomplete would hold up the shutdown. */
  readonly late?: AbortSignal;
  /** The largest length that the head may announce. */
  readonly maxBytes?: number;
}

async function nextChunk(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await chunks.next();
  } catch (cause) {
    throw new ConnectError("the caller is gone", Code.Canceled, undefined, undefined, cause);
  }
}
