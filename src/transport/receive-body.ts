import type { Readable } from "node:stream";
import { Code, ConnectError } from "@connectrpc/connect";
import type { CallContext } from "./call-context.ts";

/** Bounds of {@link receiveBody}. */
export interface BodyBounds {
  /** From now to the end of the body; `undefined` where a deadline comes sooner. */
  readonly timeoutMs: number | undefined;
  /** Looks at what has come so far: its size and its first chunk. Throws to refuse the rest. */
  check(sizeBytes: number, first: Buffer): void;
}

/** A call that may be aborted while its body is awaited. */
export type Interruptible = Pick<CallContext, "interruptible">;

/** For bodies whose waiting is ended from outside. */
export const UNINTERRUPTED: Interruptible = { interruptible: (start) => new Promise(start) };

/**
 * All that a request sends. Rejects with DEADLINE_EXCEEDED when it takes too long, with what `check` throws, and with
 * the reason when the call is aborted. A refused body is left where it is: the reply decides what becomes of the
 * connection.
 */
export function receiveBody(source: Readable, call: Interruptible, bounds: BodyBounds): Promise<Buffer> {
  return call.interruptible((resolve, reject) => {
    const chunks: Buffer[] = [];
    let sizeBytes = 0;
    let timer: NodeJS.Timeout | undefined;
    // A stream goes on for long after its request, and is not to keep what that was read with.
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
    source.on("data", onData);
    source.on("end", onEnd);
    source.on("close", leave);
    if (bounds.timeoutMs === undefined) return;
    const onLate = () => fail(new ConnectError("the body did not arrive in time", Code.DeadlineExceeded));
    timer = setTimeout(onLate, bounds.timeoutMs);
  });
}

/** A chunk costs a hundred bytes, however short; a peer may send one for each byte. */
const CHUNKS_MAX_COUNT = 256;
const EMPTY = Buffer.alloc(0);
