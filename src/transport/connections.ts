import { createServer as createHttp1, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { Socket } from "node:net";
import { type Http2Session, trackHttp2Session } from "./http2-session.ts";
import { dispatchStreams, type StreamTaker } from "./http2-streams.ts";
import type { Limits } from "./limits.ts";
import type { ServerReply, ServerRequest } from "./node-http.ts";
import { splitConnections } from "./split-connections.ts";
import type { TlsOptions } from "./tls-acceptor.ts";

/** All connections of one port, of both HTTP versions. */
export interface Connections {
  /** The listener. It is the HTTP/1.1 server itself, whose timeouts work only when it listens. */
  readonly server: Server;
  readonly sessions: ReadonlySet<Http2Session>;
  /** Connections that have not told their protocol. */
  readonly undecided: ReadonlySet<Socket>;
  /** From now on every HTTP/1.1 reply asks for its connection to be closed, those under way included. */
  refuseKeepAlive(): void;
}

/** How often Node looks for HTTP/1.1 connections past their time-outs. */
const TIMEOUT_CHECK_INTERVAL_MS = 1000;

/**
 * Serves HTTP/1.1 and HTTP/2 on one port: with prior knowledge in clear text, or all of it by TLS. The caller listens.
 * @param takeStream may serve an HTTP/2 stream by itself
 */
export function createConnections(
  handler: (request: ServerRequest, reply: ServerReply) => void,
  takeStream: StreamTaker,
  limits: Limits,
  tls: TlsOptions | undefined,
): Connections {
  const underWay = new Set<ServerResponse>();
  const sessions = new Set<Http2Session>();
  const undecided = new Set<Socket>();
  let keepsAlive = true;
  const server = createHttp1(http1Options(limits), (request, response) => {
    underWay.add(response);
    response.once("close", () => underWay.delete(response));
    if (!keepsAlive) response.shouldKeepAlive = false;
    handler(request, response);
  });
  server.on("clientError", refuseMalformed);
  const http2 = createHttp2({
    settings: {
      maxConcurrentStreams: limits.streamsPerConnectionCount,
      maxHeaderListSize: limits.headerBytes,
      enablePush: false,
    },
  });
  dispatchStreams(http2, takeStream, handler);
  // A connection that breaks before it is a session concerns nobody.
  http2.on("sessionError", () => {});
  http2.on("session", (session) => {
    const tracked = trackHttp2Session(session, limits.idleTimeoutMs);
    sessions.add(tracked);
    session.once("close", () => sessions.delete(tracked));
  });
  splitConnections({ server, http2, tls, limits, undecided });
  return {
    server,
    sessions,
    undecided,
    refuseKeepAlive() {
      keepsAlive = false;
      for (const response of underWay) if (!response.headersSent) response.shouldKeepAlive = false;
    },
  };
}

function http1Options(limits: Limits): ServerOptions {
  return {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  };
}

/** What is no HTTP gets a short answer, if the peer still listens. */
function refuseMalformed(
  error: NodeJS.ErrnoException,
  socket: NodeJS.WritableStream & { destroy(): void },
): void {
  const status = STATUS_OF_PARSE_ERROR[error.code ?? ""] ?? "400 Bad Request";
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`, () => socket.destroy());
}

const STATUS_OF_PARSE_ERROR: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};
