import type { IncomingHttpHeaders } from "node:http";
import type { Readable } from "node:stream";
import type { DescMessage, Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import type { CallContext } from "./call-context.ts";
import { checkFlags, type EnvelopeRules } from "./check-envelopes.ts";
import { COMPRESSION_NAMES, requestCompression } from "./compression.ts";
import {
  expectNoMore,
  firstMessage,
  HEAD_BYTES,
  isCompressed,
  type OneMessageKind,
  promisedBytes,
} from "./envelope.ts";
import type { Limits } from "./limits.ts";
import type { MessageCodec } from "./message-codec.ts";
import { type Interruptible, receiveBody } from "./receive-body.ts";

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
  const compression = compressionOf(headers[names.encodingHeader], context, names.acceptEncodingHeader);
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

function compressionOf(
  encoding: string | string[] | undefined,
  context: CallContext,
  acceptEncodingHeader: string,
): Compression | undefined {
  try {
    return requestCompression(encoding);
  } catch (refusal) {
    context.responseHeader.set(acceptEncodingHeader, COMPRESSION_NAMES);
    throw refusal;
  }
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
