import type { IncomingMessage } from "node:http";
import { Code, type ConnectError } from "@connectrpc/connect";
import { Call, type FinishedCall } from "./calls/call.ts";
import type { CallWrapper, ErrorMapping } from "./calls/call-parts.ts";
import { chooseRequestId } from "./calls/request-id.ts";
import { TransportError } from "./calls/transport-error.ts";
import type { ConnectHandler } from "./connect-handler.ts";
import { releaseAfterReply } from "./connections/release-request.ts";
import { setGrpcStatus } from "./grpc/grpc-messages.ts";
import {
  certificateOf,
  peerAddressOf,
  type ServerReply,
  type ServerRequest,
  splitTarget,
} from "./http/node-http.ts";
import type { PlainRoutes } from "./http/plain-routes.ts";
import type { RestHandler } from "./rest/rest-handler.ts";
import { replyError } from "./rest/rest-replies.ts";

/** Handles a request of any protocol. It never throws or rejects: each request ends in a reply or a cut connection. */
export function createRequestHandler(
  parts: RequestParts,
): (request: ServerRequest, reply: ServerReply) => void {
  return (request, reply) => {
    // Writing to a departed peer must not crash the process.
    reply.on("error", ignore);
    if (!("stream" in request)) {
      request.on("error", ignore);
      useOriginForm(request);
    }
    const requestId = chooseRequestId(request.headers["x-request-id"]);
    releaseAfterReply(request, reply, parts.lingerMs);
    if (parts.cors(request, reply)) return;
    const call = new Call(
      {
        requestId,
        protocol: protocolOf(request),
        peerAddress: peerAddressOf(request),
        certificate: certificateOf(request),
        closing: parts.closing,
      },
      parts.onCallEnd,
    );
    serve(request, reply, call, parts);
  };
}

/** The handlers of a request, in this order. */
export interface RequestParts {
  /** Sets headers on replies to browsers; answers preflights itself and returns true. */
  readonly cors: (request: ServerRequest, reply: ServerReply) => boolean;
  readonly plain: PlainRoutes;
  readonly connect: ConnectHandler;
  readonly rest: RestHandler;
  readonly errors: ErrorMapping;
  /** How long a caller may keep sending an unread body after its reply, in milliseconds. */
  readonly lingerMs: () => number;
  /** The hint in errors for calls and routes that this server does not serve. */
  readonly elsewhere: string | undefined;
  /** Fires when the server is about to close. */
  readonly closing: AbortSignal;
  readonly aroundCall?: CallWrapper | undefined;
  readonly onCallEnd: ((call: FinishedCall) => void) | undefined;
  /** Called with failures that no reply can report. */
  readonly onError: (error: unknown) => void;
}

function ignore(): void {}

/** Splits a whole URL as the target into path and host, which replaces the header's (RFC 9112, 3.2.2). */
function useOriginForm(request: IncomingMessage): void {
  const [, host, target = ""] = /^https?:\/\/([^/?#@]+)(.*)$/i.exec(request.url ?? "") ?? [];
  if (host === undefined) return;
  request.headers.host = host;
  request.url = target.startsWith("/") ? target : `/${target}`;
}

/** Never throws. Only one function awaits the call, because a stream keeps each waiting function in memory. */
function serve(request: ServerRequest, reply: ServerReply, call: Call, parts: RequestParts): void {
  const refuse = (reason: unknown) => {
    try {
      fail(request, reply, call, reason, parts);
    } catch (failure) {
      parts.onError(failure);
      reply.destroy();
    }
  };
  try {
    const handled = route(request, reply, call, parts);
    if (handled === undefined) refuse(nowhere(request, call, parts.elsewhere));
    else handled.catch(refuse);
  } catch (reason) {
    refuse(reason);
  }
}

function route(
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  { plain, connect, rest, aroundCall }: RequestParts,
): Promise<void> | undefined {
  const serveCall = () => connect(request, reply, call) ?? rest(request, reply, call);
  return (
    plain(request, reply, call.requestId) ??
    (aroundCall === undefined
      ? serveCall()
      : aroundCall({ headers: request.headers, values: call.values }, serveCall))
  );
}

function nowhere(request: ServerRequest, { protocol }: Call, elsewhere: string | undefined): TransportError {
  if (protocol.startsWith("grpc"))
    return new TransportError("UNIMPLEMENTED", elsewhere ?? "there is no such method");
  // A shell puts nothing in the place of a variable that is not set.
  const hasEmptyPart = /\/(?:\/|$)/.test(splitTarget(request).path.slice(1));
  const hint = hasEmptyPart ? "; a part of the path is empty, such as an id that is not set" : "";
  return new TransportError("ROUTE_NOT_FOUND", elsewhere ?? `there is no such route${hint}`);
}

function fail(
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  reason: unknown,
  parts: RequestParts,
): void {
  const error = parts.errors.toConnectError(reason, call);
  call.end(error);
  if (reply.headersSent || reply.destroyed) {
    // A reply that has begun cannot change its status, so the connection is cut.
    if (!reply.writableEnded) reply.destroy();
    if (error.code !== Code.Canceled) parts.onError(reason);
    return;
  }
  reply.setHeader("x-request-id", call.requestId);
  const status = parts.errors.httpStatus(error);
  if (call.protocol === "grpc" || (call.protocol === "grpc-web" && !HTTP_REFUSALS.has(status)))
    replyTrailersOnly(request, reply, error);
  else replyError({ reply, isHead: request.method === "HEAD" }, error, status);
}

/** The refusals that gRPC-web reports as an HTTP status: unsupported method and media type. */
const HTTP_REFUSALS: ReadonlySet<number> = new Set([405, 415]);

function protocolOf(request: ServerRequest): string {
  const type = String(request.headers["content-type"] ?? "").toLowerCase();
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  if (type.startsWith("application/grpc")) return "grpc";
  return request.headers["connect-protocol-version"] === undefined ? "rest" : "connect";
}

/** gRPC and gRPC-web accept a reply without a body whose head contains the status. */
function replyTrailersOnly(request: ServerRequest, reply: ServerReply, error: ConnectError): void {
  reply.setHeader("content-type", String(request.headers["content-type"]));
  setGrpcStatus(new Headers(), error).forEach((value, name) => {
    reply.setHeader(name, value);
  });
  // Ending without an explicit head puts head and end in one frame; otherwise clients do not look for a status.
  reply.end();
}
