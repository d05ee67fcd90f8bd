import { Code, ConnectError } from "@connectrpc/connect";
import { bodyOf, type ServerRequest } from "./node-http.ts";

/**
 * Yields the chunks of a request's body. Throws DEADLINE_EXCEEDED when the body is not complete in time, and CANCELED
 * when the caller is gone. Stopping early leaves the connection usable for the reply.
 */
export async function* readBody(
  request: ServerRequest,
  timeoutMs: number | undefined,
): AsyncGenerator<Uint8Array> {
  const chunks: AsyncIterator<Uint8Array> = bodyOf(request).iterator({ destroyOnReturn: false });
  let timer: NodeJS.Timeout | undefined;
  const late =
    timeoutMs === undefined
      ? undefined
      : new Promise<never>((_, reject) => {
          const error = new ConnectError("the body did not arrive in time", Code.DeadlineExceeded);
          timer = setTimeout(() => reject(error), timeoutMs);
        });
  // Without this handler, a rejection that is not awaited would be unhandled.
  late?.catch(() => {});
  try {
    for (;;) {
      const next = nextChunk(chunks);
      const result = await (late === undefined ? next : Promise.race([next, late]));
      if (result.done === true) return;
      yield result.value;
    }
  } finally {
    clearTimeout(timer);
    // Releases the request, so that the rest of its body can be discarded.
    void chunks.return?.();
  }
}

async function nextChunk(chunks: AsyncIterator<Uint8Array>): Promise<IteratorResult<Uint8Array>> {
  try {
    return await chunks.next();
  } catch (cause) {
    throw new ConnectError("the caller is gone", Code.Canceled, undefined, undefined, cause);
  }
}
