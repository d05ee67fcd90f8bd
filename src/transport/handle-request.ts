import { Code, type ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import { Call } from "./call.ts";
import type { CallWrapper } from "./call-wrapper.ts";
import type { ConnectHandler } from "./connect-handler.ts";
import type { ErrorMapping } from "./error-mapping.ts";
import type { FinishedCall } from "./finished-call.ts";
import type { Limits } from "./limits.ts";
import type { ServerReply, ServerRequest } from "./node-http.ts";
import type { PlainRoutes } from "./plain-routes.ts";
import { releaseAfterReply } from "./release-request.ts";
import { chooseRequestId } from "./request-id.ts";
import type { RestHandler } from "./rest/rest-handler.ts";
import { replyError } from "./rest/rest-replies.ts";
import { TransportError } from "./transport-error.ts";

/** The parts that a request may go to, in this order. */
export interface RequestParts {
  /** Sets headers on replies to browsers; answers preflights itself and returns true. */
  readonly cors: (request: ServerRequest, reply: ServerReply) => boolean;
  readonly plain: PlainRoutes;
  readonly connect: ConnectHandler;
  readonly rest: RestHandler;
  readonly errors: ErrorMapping;
  readonly limits: Limits;
  /** What is said of calls and routes that are not served. */
  readonly elsewhere: string | undefined;
  /** Fires when the server is about to close. */
  readonly closing: AbortSignal;
  readonly aroundCall?: CallWrapper | undefined;
  readonly onCallEnd: ((call: FinishedCall) => void) | undefined;
  /** Hears of failures that no caller can be told. */
  readonly onError: (error: unknown) => void;
}

/** Handles a request of any protocol. Never throws and never rejects: each request ends in a reply or a cut. */
export function createRequestHandler(
  parts: RequestParts,
): (request: ServerRequest, reply: ServerReply) => void {
  return (request, reply) => {
    // Writing to a peer that is gone must not end the process.
    reply.on("error", ignore);
    request.on("error", ignore);
    const requestId = chooseRequestId(request.headers["x-request-id"]);
    releaseAfterReply(request, reply, parts.limits.lingerTimeoutMs);
    if (parts.cors(request, reply)) return;
    const call = new Call(
      {
        requestId,
        protocol: protocolOf(request),
        peerAddress: request.socket?.remoteAddress ?? "",
        closing: parts.closing,
      },
      parts.onCallEnd,
    );
    void serve(request, reply, call, parts);
  };
}

function ignore(): void {}

/** Never rejects. */
async function serve(
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  parts: RequestParts,
): Promise<void> {
  try {
    const { aroundCall = (_call, serveCall) => serveCall() } = parts;
    const route = () => parts.connect(request, reply, call) ?? parts.rest(request, reply, call);
    const handled =
      parts.plain(request, reply, call.requestId) ??
      aroundCall({ headers: request.headers, values: call.values }, route);
    if (handled === undefined) throw nowhere(call, parts.elsewhere);
    await handled;
  } catch (reason) {
    try {
      fail(request, reply, call, reason, parts);
    } catch (failure) {
      parts.onError(failure);
      reply.destroy();
    }
  }
}

function nowhere({ protocol }: Call, elsewhere: string | undefined): TransportError {
  return protocol.startsWith("grpc")
    ? new TransportError("UNIMPLEMENTED", elsewhere ?? "there is no such method")
    : new TransportError("ROUTE_NOT_FOUND", elsewhere ?? "there is no such route");
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
    // A reply that has begun cannot change its status. What cannot be said to the caller is cut.
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

/** What gRPC-web says with the status of HTTP: the method and the media type are not taken. */
const HTTP_REFUSALS: ReadonlySet<number> = new Set([405, 415]);

function protocolOf(request: ServerRequest): string {
  const type = String(request.headers["content-type"] ?? "").toLowerCase();
  if (type.startsWith("application/grpc-web")) return "grpc-web";
  if (type.startsWith("application/grpc")) return "grpc";
  return request.headers["connect-protocol-version"] === undefined ? "rest" : "connect";
}

/** gRPC and gRPC-web understand a reply without a body whose head holds the status. */
function replyTrailersOnly(request: ServerRequest, reply: ServerReply, error: ConnectError): void {
  reply.setHeader("content-type", String(request.headers["content-type"]));
  setTrailerStatus(new Headers(), error).forEach((value, name) => {
    reply.setHeader(name, value);
  });
  // Ended without a head, so that head and end are one frame, without which clients do not look for a status.
  reply.end();
}
