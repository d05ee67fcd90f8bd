import { Code, ConnectError, createConnectRouter, type Interceptor } from "@connectrpc/connect";
import type { UniversalHandler, UniversalServerResponse } from "@connectrpc/connect/protocol";
import { universalRequestFromNodeRequest } from "@connectrpc/connect-node";
import type { Call } from "./call.ts";
import type { CallParts } from "./call-parts.ts";
import { checkEnvelopes, envelopeRules } from "./check-envelopes.ts";
import { COMPRESS_MIN_BYTES, COMPRESSIONS } from "./compression.ts";
import { boundDeadlineHeaders } from "./deadline.ts";
import type { RequestGate } from "./guard-call.ts";
import type { Limits } from "./limits.ts";
import { createJsonCodec } from "./message-codec.ts";
import { methodNotAllowed } from "./method-not-allowed.ts";
import { type ServerReply, type ServerRequest, splitTarget, writeChunk, writeHead } from "./node-http.ts";
import type { OwnSpec } from "./own-specs.ts";
import { readBody } from "./read-body.ts";
import type { ServiceRegistration } from "./service-registration.ts";
import { connectStreamCodecOf, serveConnectStream } from "./streaming/connect-stream.ts";
import { TransportError } from "./transport-error.ts";
import { connectCodecOf, serveConnectUnary } from "./unary/connect-unary.ts";

/** What serves gRPC, gRPC-web and Connect. */
export interface ConnectHandlerOptions {
  readonly services: readonly ServiceRegistration[];
  readonly interceptors: Interceptor[];
  readonly gate: RequestGate;
  readonly limits: Limits;
  readonly shutdownSignal: AbortSignal;
  /** What serves the calls that need nothing of the library. */
  readonly own: CallParts;
  readonly ownSpecs: ReadonlyMap<string, OwnSpec>;
}

/** Handles one request; `undefined` when the path names no method. Rejects with a TransportError for bare refusals. */
export type ConnectHandler = (
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
) => Promise<void> | undefined;

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
    const served = request.method === "POST" ? serveOwn(path, request, reply, call) : undefined;
    return served ?? serve(handler, request, reply, call, options.limits);
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

async function serve(
  handler: UniversalHandler,
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  limits: Limits,
): Promise<void> {
  const { methodKind } = handler.method;
  reply.setHeader("x-request-id", call.requestId);
  boundDeadlineHeaders(request.headers, methodKind === "unary", limits);
  const hasOneMessage = methodKind === "unary" || methodKind === "server_streaming";
  if (isGrpcWebText(request)) throw unsupported();
  const chunks = readBody(request, hasOneMessage ? limits.bodyTimeoutMs : undefined);
  const rules = envelopeRules(request.headers);
  const universal = await handler({
    ...toUniversalRequest(request, reply, call),
    body: rules === undefined ? chunks : checkEnvelopes(chunks, rules),
  });
  if (universal.body === undefined && universal.status >= 400) throw refusal(universal, handler, reply, call);
  await send(universal, reply, limits);
}

function toUniversalRequest(request: ServerRequest, reply: ServerReply, call: Call) {
  try {
    // The library wants its own, wider type of response and uses its events only.
    const universal = universalRequestFromNodeRequest(request, reply as never, undefined, call.values);
    return { ...universal, signal: closedSignal(reply) };
  } catch (cause) {
    throw new TransportError("VALIDATION", "the request has no usable host", { cause });
  }
}

/**
 * Fires when the caller leaves, or has the whole reply. The library's own takes the code of a reset for the code of the
 * call, so that a caller could make its leaving look like a fault of the server.
 */
function closedSignal(reply: ServerReply): AbortSignal {
  const closed = new AbortController();
  reply.once("close", () => closed.abort(new ConnectError("the caller is gone", Code.Canceled)));
  return closed.signal;
}

/** The form in base64 for browsers that cannot read octets, which the library takes for octets. */
function isGrpcWebText(request: ServerRequest): boolean {
  return /^application\/grpc-web-text/i.test(request.headers["content-type"] ?? "");
}

function unsupported(): TransportError {
  return new TransportError("UNSUPPORTED_MEDIA_TYPE", "the content type is not supported on this path");
}

/** The library refuses a wrong HTTP method or content type with a bare status. */
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
      // A gRPC client reads the status of the call, not that of HTTP.
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

async function send(response: UniversalServerResponse, reply: ServerReply, limits: Limits): Promise<void> {
  const body = response.body?.[Symbol.asyncIterator]();
  const headers = response.header ?? new Headers();
  // A handler may give the length of what it sends, which is the length of a body over REST only. The library itself
  // gives the length of unary Connect replies.
  if (!isUnaryConnect(headers)) headers.delete("content-length");
  const head = () => writeHead(reply, response.status, headers);
  let isWriting = false;
  try {
    // The first message is awaited before the head, so that the handler can still set headers.
    for (let chunk = await body?.next(); chunk?.done === false; chunk = await body?.next()) {
      isWriting = true;
      if (!reply.headersSent) head();
      await writeChunk(reply, chunk.value, limits);
      isWriting = false;
    }
    if (!reply.headersSent) head();
    if (response.trailer !== undefined) reply.addTrailers(Object.fromEntries(response.trailer));
    reply.end();
  } catch (reason) {
    // The handler learns that nobody reads, so that it can stop.
    if (isWriting) body?.throw?.(reason).catch(() => {});
    throw reason;
  } finally {
    body?.return?.().catch(() => {});
  }
}

function isUnaryConnect(headers: Headers): boolean {
  return /^application\/(?:proto|json)\b/.test(headers.get("content-type") ?? "");
}
