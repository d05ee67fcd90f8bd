import { createServer as createHttp1, type Server, type ServerOptions, type ServerResponse } from "node:http";
import { createServer as createHttp2 } from "node:http2";
import type { Socket } from "node:net";
import {
  type Http1Request,
  type ServerReply,
  type ServerRequest,
  withoutMapping,
} from "../http/node-http.ts";
import { cutSlowReaders, type OpenReply } from "../http/send-body.ts";
import type { Limits } from "../limits.ts";
import { type CountOptions, countedAs, createConnectionCounter } from "./connection-counter.ts";
import { createHttp1Connections } from "./http1-connections.ts";
import { dispatchStreams, type Http2Session, type StreamTaker, trackHttp2Session } from "./http2-session.ts";
import { endDiscarding } from "./release-request.ts";
import { type HandshakeObserver, splitConnections, type TlsOptions } from "./split-connections.ts";

/**
 * Serves HTTP/1.1 and HTTP/2 on one port: in clear text with prior knowledge, or everything over TLS. The caller
 * listens.
 * @param takeStream may serve an HTTP/2 stream itself
 */
export function createConnections(
  handler: (request: ServerRequest, reply: ServerReply) => void,
  takeStream: StreamTaker,
  options: ConnectionOptions,
): Connections {
  const { limits, tls, isTrustedPeer = () => false, onHandshakeFailed } = options;
  const addressOf = ({ remoteAddress = "" }: Socket) => {
    const address = withoutMapping(remoteAddress);
    return isTrustedPeer(address) ? undefined : countedAs(address);
  };
  const http1 = createHttp1Connections(addressOf);
  const sessions = new Set<Http2Session>();
  const undecided = new Set<Socket>();
  let isClosingNew = false;
  const server = createHttp1(http1Options(limits), (request, response) => {
    http1.begin(request, response);
    handler(request, response);
  });
  // Without this listener, Node tells the caller to continue before any check.
  server.on("checkContinue", (request: Http1Request, response: ServerResponse) => {
    http1.begin(request, response, true);
    handler(request, response);
  });
  server.on("clientError", (error, socket) => refuseMalformed(error, socket as Socket, limits));
  const http2 = createHttp2({
    settings: {
      maxConcurrentStreams: limits.streamsPerConnectionCount,
      // Node resets a stream above this size without a reply, so the limit itself is enforced where a reply is possible.
      maxHeaderListSize: limits.headerBytes * UNANSWERED_HEADERS_FACTOR,
      enablePush: false,
    },
  });
  dispatchStreams(http2, takeStream, handler, limits);
  // A connection that breaks before its session starts needs no report.
  http2.on("sessionError", () => {});
  const acceptHttp1 = server.listeners("connection");
  splitConnections({
    server,
    tls,
    limits,
    counter: createConnectionCounter(options),
    undecided,
    onHandshakeFailed,
    acceptHttp1(socket) {
      http1.add(socket);
      for (const listener of acceptHttp1) listener.call(server, socket);
    },
    acceptHttp2(socket) {
      // Node creates the session synchronously.
      http2.once("session", (session) => {
        const tracked = trackHttp2Session(session, socket, limits, addressOf(socket));
        sessions.add(tracked);
        socket.once("close", () => sessions.delete(tracked));
        // New calls on it would delay the shutdown. None has been read yet, so the peer may retry them.
        if (isClosingNew) tracked.closeGently();
      });
      http2.emit("connection", socket);
    },
  });
  function* openReplies(): Generator<OpenReply> {
    yield* http1.openReplies();
    for (const session of sessions) yield* session.openReplies();
  }
  server.once("close", cutSlowReaders(openReplies, limits));
  const reaper = setInterval(() => {
    for (const session of sessions) session.reap();
  }, REAP_INTERVAL_MS);
  reaper.unref();
  server.once("close", () => clearInterval(reaper));
  return {
    server,
    sessions,
    undecided,
    refuseKeepAlive: () => http1.refuseKeepAlive(),
    closeSessions(newToo) {
      isClosingNew ||= newToo;
      for (const session of sessions) session.closeGently();
    },
    cutWithoutCall: (onlySilent) => http1.cutWithoutCall(onlySilent),
  };
}

/** All connections of one port, of both HTTP versions. */
export interface Connections {
  /** The listener. It is the HTTP/1.1 server itself, whose time-outs only work when it listens. */
  readonly server: Server;
  readonly sessions: ReadonlySet<Http2Session>;
  /** Connections whose protocol is not yet known. */
  readonly undecided: ReadonlySet<Socket>;
  /** From now on, every HTTP/1.1 reply asks the peer to close the connection, including replies to running calls. */
  refuseKeepAlive(): void;
  /**
   * Closes the HTTP/2 connections without breaking a call.
   * @param newToo whether to close connections that become HTTP/2 later in the same way
   */
  closeSessions(newToo: boolean): void;
  /**
   * Cuts the HTTP/1.1 connections without a running call, such as those with half a request head.
   * @param onlySilent whether to spare those that have sent something since the last call
   */
  cutWithoutCall(onlySilent: boolean): void;
}

/** Options of {@link createConnections}. */
export interface ConnectionOptions extends CountOptions {
  readonly limits: Limits;
  /** If set, all connections must use TLS. */
  readonly tls: TlsOptions | undefined;
  readonly onHandshakeFailed?: HandshakeObserver | undefined;
}

/** Headers this many times as large as allowed get no reply over HTTP/2. */
const UNANSWERED_HEADERS_FACTOR = 3;
const REAP_INTERVAL_MS = 1000;
/** The interval at which Node checks HTTP/1.1 connections for time-outs. */
const TIMEOUT_CHECK_INTERVAL_MS = 1000;

function http1Options(limits: Limits): ServerOptions {
  return {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersTimeoutMs,
    requestTimeout: limits.headersTimeoutMs + limits.bodyTimeoutMs,
    keepAliveTimeout: limits.idleTimeoutMs,
    connectionsCheckingInterval: TIMEOUT_CHECK_INTERVAL_MS,
  };
}

/** Answers input that is not HTTP with a short reply, if the peer still reads. */
function refuseMalformed(error: NodeJS.ErrnoException, socket: Socket, { lingerTimeoutMs }: Limits): void {
  const status = STATUS_OF_PARSE_ERROR[error.code ?? ""] ?? "400 Bad Request";
  if (error.code === "ECONNRESET" || !socket.writable) socket.destroy();
  else {
    const reply = `HTTP/1.1 ${status}\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`;
    endDiscarding(socket, reply, lingerTimeoutMs);
  }
}

const STATUS_OF_PARSE_ERROR: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};
