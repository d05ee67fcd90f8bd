import { Code, ConnectError } from "@connectrpc/connect";

/** One byte of flags and four of length precede each message (gRPC over HTTP/2, Length-Prefixed-Message). */
export const HEAD_BYTES = 5;
const COMPRESSED = 1;

/** Returns the length that the head announces. */
export function promisedBytes(head: Buffer): number {
  return head.readUInt32BE(1);
}

/** Whether the flags mark the message as compressed. */
export function isCompressed(body: Buffer): boolean {
  return ((body[0] ?? 0) & COMPRESSED) !== 0;
}

/** The kinds of call whose request is one message. */
export type OneMessageKind = "unary" | "server-streaming";

/**
 * Returns the first message in a body.
 * @throws ConnectError UNIMPLEMENTED for none, INVALID_ARGUMENT for a truncated one, RESOURCE_EXHAUSTED above the limit
 */
export function firstMessage(body: Buffer, maxBytes: number, kind: OneMessageKind): Buffer {
  if (body.length === 0) {
    throw new ConnectError(`protocol error: missing input message for ${kind} method`, Code.Unimplemented);
  }
  return body.subarray(HEAD_BYTES, endOfMessage(body, 0, maxBytes));
}

/**
 * Checks that nothing follows the first message of a body.
 * @throws ConnectError UNIMPLEMENTED for a second message, INVALID_ARGUMENT for a truncated one
 */
export function expectNoMore(body: Buffer, maxBytes: number, kind: OneMessageKind): void {
  const end = HEAD_BYTES + promisedBytes(body);
  if (body.length === end) return;
  endOfMessage(body, end, maxBytes);
  throw new ConnectError(
    `protocol error: received extra input message for ${kind} method`,
    Code.Unimplemented,
  );
}

function endOfMessage(body: Buffer, start: number, maxBytes: number): number {
  if (body.length < start + HEAD_BYTES) throw torn();
  const sizeBytes = body.readUInt32BE(start + 1);
  if (sizeBytes > maxBytes) {
    throw new ConnectError(
      `message size ${sizeBytes} is larger than configured readMaxBytes ${maxBytes}`,
      Code.ResourceExhausted,
    );
  }
  const end = start + HEAD_BYTES + sizeBytes;
  if (body.length < end) throw torn();
  return end;
}

function torn(): ConnectError {
  return new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
}

/** Prefixes a message with its head. */
export function frameMessage(bytes: Uint8Array, flags: number): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + bytes.length);
  frame[0] = flags;
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, HEAD_BYTES);
  return frame;
}
