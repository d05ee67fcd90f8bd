import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { CallContext } from "./calls/call-context.ts";
import type { MessageCodec } from "./calls/message-codec.ts";
import { TransportError } from "./calls/transport-error.ts";
import { COMPRESS_MIN_BYTES, requestCompression } from "./http/compression.ts";
import { type ReplyBody, writeChunk } from "./http/node-http.ts";
import { type Interruptible, receiveBody } from "./http/receive-body.ts";
import type { Limits } from "./limits.ts";

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

/**
 * Writes one message of a streamed reply, compressed unless it is short. Resolves when the reader can take more.
 * @param compression the one that the head of the reply names, if any
 */
export function writeMessage(
  reply: ReplyBody,
  bytes: Uint8Array,
  flags: number,
  compression: Compression | undefined,
  limits: Limits,
): Promise<void> {
  if (compression === undefined || bytes.length < COMPRESS_MIN_BYTES)
    return writeChunk(reply, frameMessage(bytes, flags), limits);
  return compression
    .compress(bytes as Uint8Array<ArrayBuffer>)
    .then((compressed) => writeChunk(reply, frameMessage(compressed, flags | COMPRESSED), limits));
}

/** Yields the chunks of a body unchanged, after checking the flags of the envelopes that begin in each. */
export async function* checkEnvelopes(
  chunks: AsyncIterable<Uint8Array>,
  rules: EnvelopeRules,
): AsyncGenerator<Uint8Array> {
  const head = Buffer.alloc(HEAD_BYTES);
  let headBytes = 0;
  let bodyBytes = 0;
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; ) {
      if (bodyBytes > 0) {
        const skipped = Math.min(bodyBytes, chunk.length - at);
        bodyBytes -= skipped;
        at += skipped;
        continue;
      }
      head[headBytes++] = chunk[at++] ?? 0;
      if (headBytes < HEAD_BYTES) continue;
      checkFlags(head[0] ?? 0, rules);
      bodyBytes = head.readUInt32BE(1);
      headBytes = 0;
    }
    yield chunk;
  }
}

/** One byte of flags and four of length precede each message of gRPC, gRPC-web and Connect's streams. */
/** Each protocol's flags besides {@link COMPRESSED}: they mark the last envelope of a Connect or gRPC-web stream. */
const FLAGS = { grpc: 0, "grpc-web": 0x80, connect: 2 } as const;

/** The rules for the envelopes of a request's messages. */
export interface EnvelopeRules {
  /** The flags that an envelope may have. */
  readonly knownFlags: number;
  /** Whether the head names the compression. */
  readonly isEncodingNamed: boolean;
}

/** Returns the rules for a request from its head, or `undefined` when its body has no envelopes. */
export function envelopeRules(headers: NodeJS.Dict<string | string[]>): EnvelopeRules | undefined {
  const match = /^application\/(grpc-web|grpc|connect)\b/i.exec(String(headers["content-type"] ?? ""));
  if (match === null) return undefined;
  const protocol = String(match[1]).toLowerCase() as keyof typeof FLAGS;
  const encoding = headers[protocol === "connect" ? "connect-content-encoding" : "grpc-encoding"];
  return {
    knownFlags: FLAGS[protocol] | COMPRESSED,
    isEncodingNamed: encoding !== undefined && encoding !== "identity",
  };
}

/**
 * Checks the flags of an envelope.
 * @throws ConnectError INTERNAL for a reserved flag, and for a compressed message without a named encoding (gRPC's
 *   compression.md)
 */
export function checkFlags(flags: number, { knownFlags, isEncodingNamed }: EnvelopeRules): void {
  if ((flags & ~knownFlags) !== 0) throw malformed("the envelope of a message has reserved flags");
  if ((flags & COMPRESSED) !== 0 && !isEncodingNamed) {
    throw malformed("a message is compressed, but the headers name no compression");
  }
}

/** Puts the error in a cause, because the library replaces other errors. */
function malformed(message: string): ConnectError {
  const cause = new TransportError("MALFORMED_FRAME", message);
  return new ConnectError(message, Code.Internal, undefined, undefined, cause);
}

/**
 * Reads the message of a request. Rejects with the error in the head first, then with errors in the body, and with the
 * reason when `call` is aborted.
 * @param take receives the message, and a check that no other message follows
 */
export function receiveEnveloped<T>(
  { body, headers, context, limits, input, kind, codec, refusal, ...names }: EnvelopedRequest,
  call: Interruptible,
  take: (message: Message, expectEnd: () => void) => T,
): Promise<T> {
  const compression = requestCompression(headers[names.encodingHeader], names.acceptEncodingHeader, context);
  if (refusal !== undefined) throw refusal;
  const { bodyBytes, bodyTimeoutMs } = limits;
  checkSize(Number(headers["content-length"] ?? 0) - HEAD_BYTES, bodyBytes);
  const rules = compression === undefined ? PLAIN : ENCODED;
  const bounds = {
    timeoutMs: context.bodyTimeoutMs(bodyTimeoutMs),
    check(sizeBytes: number, first: Buffer) {
      if (first.length >= HEAD_BYTES) {
        checkFlags(first[0] ?? 0, rules);
        checkSize(promisedBytes(first), bodyBytes);
      }
      if (sizeBytes > HEAD_BYTES + bodyBytes) checkSize(sizeBytes - HEAD_BYTES, bodyBytes);
    },
  };
  return receiveBody(body(), call, bounds).then((bytes) => {
    // The head may arrive in pieces.
    if (bytes.length >= HEAD_BYTES) checkFlags(bytes[0] ?? 0, rules);
    const given = firstMessage(bytes, bodyBytes, kind);
    const parse = (plain: Uint8Array) =>
      take(codec.parse(input, plain), () => expectNoMore(bytes, bodyBytes, kind));
    return compression === undefined || !isCompressed(bytes)
      ? parse(given)
      : compression.decompress(given as Uint8Array<ArrayBuffer>, bodyBytes).then(parse);
  });
}

/** A request with one enveloped message. */
export interface EnvelopedRequest {
  /** Returns the body, which is then read at once. */
  readonly body: () => Readable;
  readonly headers: IncomingHttpHeaders;
  readonly context: CallContext;
  readonly limits: Limits;
  readonly input: DescMessage;
  readonly kind: OneMessageKind;
  readonly codec: MessageCodec;
  /** The names of the headers about compression. */
  readonly encodingHeader: string;
  readonly acceptEncodingHeader: string;
  /** The error in the head, if any. */
  readonly refusal: ConnectError | undefined;
}

/** The rules for a request whose head names its compression. */
const PLAIN: EnvelopeRules = { knownFlags: 1, isEncodingNamed: false };
const ENCODED: EnvelopeRules = { knownFlags: 1, isEncodingNamed: true };

function checkSize(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes <= maxBytes) return;
  throw new ConnectError(
    `message size ${sizeBytes} is larger than configured readMaxBytes ${maxBytes}`,
    Code.ResourceExhausted,
  );
}
