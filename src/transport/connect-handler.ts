import type { IncomingHttpHeaders } from "node:http";
import { Code, ConnectError, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import type { Call } from "./calls/call.ts";
import type { CallParts, RequestGate } from "./calls/call-parts.ts";
import { boundDeadlineHeaders } from "./calls/deadline.ts";
import { LazyHeaders } from "./calls/lazy-headers.ts";
import { createJsonCodec, mediaTypeOf } from "./calls/message-codec.ts";
import type { ServiceRegistration } from "./calls/service-registration.ts";
import { addChallenge, methodNotAllowed, TransportError } from "./calls/transport-error.ts";
import { checkEnvelopes, envelopeRules, HEAD_BYTES } from "./envelope.ts";
import { binaryTypeOf, decodeText, encodeText, textTypeOf } from "./grpc/grpc-web-text.ts";
import { COMPRESS_MIN_BYTES, COMPRESSION_NAMES, COMPRESSIONS } from "./http/compression.ts";
import {
  type ServerReply,
  type ServerRequest,
  splitTarget,
  writeChunk,
  writeHead,
} from "./http/node-http.ts";
import { readBody } from "./http/receive-body.ts";
import type { Limits } from "./limits.ts";
import type { OwnSpec } from "./own-services.ts";
import { connectStreamCodecOf, serveConnectStream } from "./streaming/connect-stream.ts";
import { connectCodecOf, serveConnectUnary } from "./unary/connect-unary.ts";

/** Serves `POST /package.Service/Method` (and GET for methods without side effects) in three protocols. */
export function createConnectHandler(options: ConnectHandlerOptions): ConnectHandler {
  const router = createConnectRouter({
    interceptors: options.interceptors,
    requestGate: options.gate,
    readMaxBytes: options.limits.bodyBytes,
    acceptCompression: COMPRESSIONS,
    compressMinBytes: COMPRESS_MIN_BYTES,
    shutdownSignal: options.shutdownSignal,
    jsonOptions: options.own.jsonForm,
  });
  for (const { service, implementation } of options.services) router.service(service, implementation);
  const json = createJsonCodec(options.own.jsonForm);
  const handlers = new Map(router.handlers.map((handler) => [handler.requestPath, handler]));
  return (request, reply, call) => {
    const { path } = splitTarget(request);
    const handler = handlers.get(path);
    if (handler === undefined) return undefined;
    const type = request.headers["content-type"];
    if (type?.includes(";")) request.headers["content-type"] = mediaTypeOf(type) ?? type;
    const served = request.method === "POST" ? serveOwn(path, request, reply, call) : undefined;
    return served ?? serve(handler, request, reply, call, options);
  };

  function serveOwn(
    path: string,
    request: ServerRequest,
    reply: ServerReply,
    call: Call,
  ): Promise<void> | undefined {
    const spec = options.ownSpecs.get(path);
    const contentType = request.headers["content-type"];
    if (spec?.kind === "unary") {
      const codec = connectCodecOf(contentType, json);
      return codec && serveConnectUnary(spec, codec, request, reply, call, options.own);
    }
    const codec = spec && connectStreamCodecOf(contentType, json);
    return codec && serveConnectStream(spec, codec, request, reply, call, options.own);
  }
}

/** Options of {@link createConnectHandler}. */
export interface ConnectHandlerOptions {
  readonly services: readonly ServiceRegistration[];
  readonly interceptors: Interceptor[];
  readonly gate: RequestGate;
  readonly limits: Limits;
  readonly shutdownSignal: AbortSignal;
  /** Fires when incomplete bodies would hold up the shutdown. */
  readonly late: AbortSignal;
  /** The parts that serve calls which do not need the library. */
  readonly own: CallParts;
  readonly ownSpecs: ReadonlyMap<string, OwnSpec>;
}

/**
 * Handles one request, or returns `undefined` when the path names no method. Rejects with a TransportError for the
 * library's bare HTTP refusals.
 */
export type ConnectHandler = (
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
) => Promise<void> | undefined;

async function serve(
  handler: UniversalHandler,
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  { limits, late }: Pick<ConnectHandlerOptions, "limits" | "late">,
): Promise<void> {
  const { methodKind } = handler.method;
  reply.setHeader("x-request-id", call.requestId);
  boundDeadlineHeaders(request.headers, methodKind === "unary", limits);
  const binaryType = binaryTypeOf(request.headers["content-type"]);
  const headers =
    binaryType === undefined ? request.headers : { ...request.headers, "content-type": binaryType };
  const hasOneMessage = methodKind === "unary" || methodKind === "server_streaming";
  // One message with its head, possibly in base64.
  const maxBytes = Math.ceil(((limits.bodyBytes + HEAD_BYTES) * 4) / 3);
  const bounds = hasOneMessage ? { timeoutMs: limits.bodyTimeoutMs, late, maxBytes } : {};
  const sent = readBody(request, bounds);
  const chunks = binaryType === undefined ? sent : decodeText(sent);
  const rules = envelopeRules(headers);
  const universal = await handler({
    ...toUniversalRequest(request, headers, reply, call),
    body: rules === undefined ? chunks : checkEnvelopes(chunks, rules),
  });
  if (universal.body === undefined && universal.status >= 400) throw refusal(universal, handler, reply, call);
  const replyHeaders = universal.header ?? new Headers();
  addChallenge(universal.status, replyHeaders);
  nameEncodings(headers, replyHeaders);
  if (binaryType !== undefined)
    replyHeaders.set("content-type", textTypeOf(replyHeaders.get("content-type") ?? ""));
  await send(universal, replyHeaders, reply, limits, binaryType === undefined ? (part) => part : encodeText);
}

function toUniversalRequest(
  request: ServerRequest,
  headers: IncomingHttpHeaders,
  reply: ServerReply,
  call: Call,
) {
  return {
    httpVersion: "stream" in request ? "2.0" : request.httpVersion,
    method: request.method ?? "",
    url: urlOf(request),
    header: new LazyHeaders(headers),
    signal: closedSignal(reply),
    contextValues: call.values,
  };
}

/** Lists the supported encodings in the reply to a request with another one, which the library does only for some. */
function nameEncodings(headers: IncomingHttpHeaders, replyHeaders: Headers): void {
  for (const [encodingHeader, acceptHeader] of ENCODING_HEADERS) {
    const encoding = headers[encodingHeader] ?? "identity";
    const isKnown = encoding === "identity" || COMPRESSIONS.some(({ name }) => name === encoding);
    if (!isKnown) replyHeaders.set(acceptHeader, COMPRESSION_NAMES);
  }
}

/** The headers with a request's encoding, and those that list the supported ones in its reply. */
const ENCODING_HEADERS = [
  ["grpc-encoding", "grpc-accept-encoding"],
  ["connect-content-encoding", "connect-accept-encoding"],
  ["content-encoding", "accept-encoding"],
] as const;

function urlOf(request: ServerRequest): string {
  const { headers, url = "" } = request;
  const isEncrypted =
    "stream" in request ? request.stream.session?.encrypted === true : "encrypted" in request.socket;
  const host = headers[":authority"] ?? headers.host ?? "";
  try {
    return new URL(url, `${isEncrypted ? "https" : "http"}://${String(host)}`).toString();
  } catch (cause) {
    throw new TransportError("VALIDATION", "the request has no usable host", { cause });
  }
}

/**
 * Fires when the caller leaves or has received the whole reply. It ignores the code of a reset, which would let a
 * caller make its departure look like a server error.
 */
function closedSignal(reply: ServerReply): AbortSignal {
  const closed = new AbortController();
  reply.once("close", () => closed.abort(new ConnectError("the caller is gone", Code.Canceled)));
  return closed.signal;
}

function unsupported(): TransportError {
  return new TransportError("UNSUPPORTED_MEDIA_TYPE", "the content type is not supported on this path");
}

/** Converts the library's bare HTTP status for a wrong method or content type into an error. */
function refusal(
  response: UniversalServerResponse,
  handler: UniversalHandler,
  reply: ServerReply,
  { protocol }: Call,
): TransportError {
  switch (response.status) {
    case 405:
      return methodNotAllowed(reply, handler.allowedMethods);
    case 415:
      // A gRPC client reads the call's status instead of the HTTP status.
      return protocol === "grpc"
        ? new TransportError(
            "UNIMPLEMENTED",
            "send application/grpc, application/grpc+proto or application/grpc+json",
          )
        : unsupported();
    default:
      return new TransportError("UNIMPLEMENTED", `the request cannot be served (${response.status})`);
  }
}

async function send(
  response: UniversalServerResponse,
  headers: Headers,
  reply: ServerReply,
  limits: Limits,
  encode: (part: Uint8Array) => Uint8Array,
): Promise<void> {
  const body = response.body?.[Symbol.asyncIterator]();
  // A content-length that the handler sets is only valid over REST. The library sets the length of unary Connect
  // replies.
  if (!isUnaryConnect(headers)) headers.delete("content-length");
  const head = () => writeHead(reply, response.status, headers);
  let isWriting = false;
  try {
    // Awaits the first message before it writes the head, so that the handler can still set headers.
    for (let chunk = await body?.next(); chunk?.done === false; chunk = await body?.next()) {
      isWriting = true;
      if (!reply.headersSent) head();
      await writeChunk(reply, encode(chunk.value), limits);
      isWriting = false;
    }
    if (!reply.headersSent) head();
    if (response.trailer !== undefined) reply.addTrailers(Object.fromEntries(response.trailer));
    reply.end();
  } catch (reason) {
    // Tells the handler that the reader is gone, so that it can stop.
    if (isWriting) body?.throw?.(reason).catch(() => {});
    throw reason;
  } finally {
    body?.return?.().catch(() => {});
  }
}

function isUnaryConnect(headers: Headers): boolean {
  return /^application\/(?:proto|json)\b/.test(headers.get("content-type") ?? "");
}
