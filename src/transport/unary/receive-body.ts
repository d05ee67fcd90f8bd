import type { Readable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";

/** Bounds of {@link receiveBody}. */
export interface BodyBounds {
  /** From now to the end of the body; `undefined` where a deadline comes sooner. */
  readonly timeoutMs: number | undefined;
  /** Looks at what has come so far: its size and its first chunk. Throws to refuse the rest. */
  check(sizeBytes: number, first: Buffer): void;
}

/**
 * All that a request sends. Rejects with DEADLINE_EXCEEDED when it takes too long, and with what `check` throws.
 * A refused body is left where it is: the reply decides what becomes of the connection. Rejects with CANCELED when
 * the caller leaves.
 */
export function receiveBody(source: Readable, bounds: BodyBounds): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    const settle = (end: () => void) => {
      clearTimeout(timer);
      source.off("data", onData);
      source.off("end", onEnd);
      source.off("close", onClose);
      end();
    };
    const onData = (chunk: Buffer) => {
      chunks.push(chunk);
      sizeBytes += chunk.byteLength;
      try {
        bounds.check(sizeBytes, chunks[0] ?? chunk);
      } catch (refusal) {
        settle(() => {
          source.pause();
          reject(refusal);
        });
      }
    };
    const onEnd = () =>
      settle(() => {
        const [only = EMPTY] = chunks;
        resolve(chunks.length <= 1 ? only : Buffer.concat(chunks, sizeBytes));
      });
    const onClose = () => settle(() => reject(new ConnectError("the caller is gone", Code.Canceled)));
    const onLate = () =>
      settle(() => reject(new ConnectError("the body did not arrive in time", Code.DeadlineExceeded)));
    const timer = bounds.timeoutMs === undefined ? undefined : setTimeout(onLate, bounds.timeoutMs);
    source.on("data", onData);
    source.on("end", onEnd);
    source.on("close", onClose);
  });
}

const EMPTY = Buffer.alloc(0);
