import type { Readable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import { bodyOf, type ServerRequest } from "./node-http.ts";

/**
 * Reads the whole body of a request. Rejects with DEADLINE_EXCEEDED when it takes too long, with the error of `check`,
 * and with the reason when the call is aborted. It leaves the rest of a refused body unread: the reply
 * decides about the connection.
 */
export function receiveBody(source: Readable, call: Interruptible, bounds: BodyBounds): Promise<Buffer> {
  return call.interruptible((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    let timer: NodeJS.Timeout | undefined;
    // Drops its listeners, because a stream continues long after its request.
    const leave = () => {
      clearTimeout(timer);
      source.off("data", onData);
      source.off("end", onEnd);
      source.off("close", leave);
    };
    const fail = (reason: unknown) => {
      source.pause();
      leave();
      reject(reason);
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      sizeBytes += chunk.byteLength;
      if (chunks.length === CHUNKS_MAX_COUNT)
        chunks.splice(0, chunks.length, Buffer.concat(chunks, sizeBytes));
      try {
        bounds.check(sizeBytes, chunks[0] ?? chunk);
      } catch (refusal) {
        fail(refusal);
      }
    };
    const onEnd = () => {
      leave();
      const [only = EMPTY] = chunks;
      resolve(chunks.length <= 1 ? only : Buffer.concat(chunks, sizeBytes));
    };
    // An empty body over HTTP/2 may end before anyone reads it.
    if (source.readableEnded) return onEnd();
    source.on("data", onData);
    source.on("end", onEnd);
    source.on("close", leave);
    if (bounds.timeoutMs === undefined) return;
    const onLate = () => fail(new ConnectError("the body did not arrive in time", Code.DeadlineExceeded));
    timer = setTimeout(onLate, bounds.timeoutMs);
  });
}

/** Limits of {@link receiveBody}. */
export interface BodyBounds {
  /** From now to the end of the body; `undefined` when a deadline comes sooner. */
  readonly timeoutMs: number | undefined;
  /** Checks the data so far: its size and its first chunk. Throws to refuse the rest. */
  check(sizeBytes: number, first: Buffer): void;
}

/** A call that may be aborted while its body is pending. */
export interface Interruptible {
  /** Creates a promise that an abort rejects with its reason, unless it has settled. */
  interruptible<T>(
    start: (resolve: (value: T) => void, reject: (reason: unknown) => void) => void,
  ): Promise<T>;
}

/** For a body whose reader handles an abort itself. */
export const UNINTERRUPTED: Interruptible = { interruptible: (start) => new Promise(start) };

/** The limit of buffered chunks. Each costs a hundred bytes, however short, and a peer may send one for each byte. */
const CHUNKS_MAX_COUNT = 256;
const EMPTY = Buffer.alloc(0);

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

/** Whether the head of a request announces no body. */
export function hasNoBody(request: ServerRequest): boolean {
  if ("stream" in request) return request.stream.endAfterHeaders;
  const { "content-length": length, "transfer-encoding": encoding } = request.headers;
  return (length === undefined || length === "0") && encoding === undefined;
}
