import { Code, ConnectError } from "@connectrpc/connect";

/** One byte of flags and four of length precede each message (gRPC over HTTP/2, Length-Prefixed-Message). */
export const HEAD_BYTES = 5;
const COMPRESSED = 1;

/** The length that the head announces. */
export function promisedBytes(head: Buffer): number {
  return head.readUInt32BE(1);
}

/** Whether the flags say that the message is compressed. */
export function isCompressed(body: Buffer): boolean {
  return ((body[0] ?? 0) & COMPRESSED) !== 0;
}

/**
 * The one message in a body.
 * @throws ConnectError UNIMPLEMENTED for none or a second one, INVALID_ARGUMENT for a torn one, RESOURCE_EXHAUSTED for
 * one above the limit
 */
export function messageOf(body: Buffer, maxBytes: number): Buffer {
  if (body.length === 0) {
    throw new ConnectError("protocol error: missing input message for unary method", Code.Unimplemented);
  }
  if (body.length < HEAD_BYTES) throw torn();
  const end = HEAD_BYTES + promisedBytes(body);
  if (end - HEAD_BYTES > maxBytes) {
    throw new ConnectError(
      `message size ${end - HEAD_BYTES} is larger than configured readMaxBytes ${maxBytes}`,
      Code.ResourceExhausted,
    );
  }
  if (body.length < end) throw torn();
  if (body.length > end) {
    throw new ConnectError(
      "protocol error: received extra input message for unary method",
      Code.Unimplemented,
    );
  }
  return body.subarray(HEAD_BYTES);
}

function torn(): ConnectError {
  return new ConnectError("protocol error: incomplete envelope", Code.InvalidArgument);
}

/** A message behind its head. */
export function frameMessage(bytes: Uint8Array, flags: number): Buffer {
  const frame = Buffer.allocUnsafe(HEAD_BYTES + bytes.length);
  frame[0] = flags;
  frame.writeUInt32BE(bytes.length, 1);
  frame.set(bytes, HEAD_BYTES);
  return frame;
}
