import { once } from "node:events";
import type { Server } from "node:http";
import {
  createServer,
  type IncomingHttpHeaders,
  constants as protocol,
  type ServerHttp2Session,
  type ServerHttp2Stream,
} from "node:http2";
import type { Socket } from "node:net";
import type { WriteLog } from "../../network.ts";
import { RpcFailure } from "../execution/failures.ts";
import { decodeGrpcWebBody, encodeGrpcWebMessage, encodeStatusMessage } from "./grpc-web.ts";
import {
  type Answer,
  type AnswerCall,
  MAX_UNREAD_BYTES,
  NoAnswer,
  type StreamingMethod,
} from "./node-methods.ts";

/** Creates a server of gRPC calls, unary and server-streaming, over HTTP/2 connections that another server accepts. */
export function createNativeServer(options: NativeServerOptions): NativeServer {
  const methods = new Map(options.streamingMethods.map((method) => [method.path, method]));
  const sessions = new Set<ServerHttp2Session>();
  /** The streams that have not ended. */
  const held = new Set<ServerHttp2Stream>();
  const server = createServer();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
    // The streams report it.
    session.on("error", () => {});
  });
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    answer(stream, headers).catch((error: unknown) => {
      if (stream.destroyed) return;
      options.log("request failed", { error: error instanceof Error ? error.message : String(error) });
      stream.close(protocol.NGHTTP2_INTERNAL_ERROR);
    });
  });
  return {
    accept: (socket) => void server.emit("connection", socket),
    close() {
      for (const stream of held) stream.close(protocol.NGHTTP2_CANCEL);
      for (const session of sessions) {
        session.close();
        const cut = setTimeout(() => session.destroy(), options.closeGraceMs);
        session.on("close", () => clearTimeout(cut));
      }
    },
  };

  async function answer(stream: ServerHttp2Stream, headers: IncomingHttpHeaders): Promise<void> {
    const refusal = refusalOf(headers);
    if (refusal !== undefined) return stream.respond({ ":status": refusal }, { endStream: true });
    const path = String(headers[":path"]).split("?")[0] as string;
    const method = methods.get(path);
    if (method !== undefined) return answerStream(method, stream);
    try {
      const { message, status } = await options.answerCall(path, options.readBody(stream), "binary");
      if (stream.destroyed) return;
      respond(stream, status);
      if (message !== undefined) stream.write(encodeGrpcWebMessage(message, "binary"));
      stream.end();
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      // A silent call stays open until the caller or the node closes the connection.
      if (error.how === "connection-breaks") stream.session?.destroy();
    }
  }

  async function answerStream(method: StreamingMethod, stream: ServerHttp2Stream): Promise<void> {
    const begin = () => {
      if (!stream.headersSent && !stream.closed) respond(stream, { code: 0, message: "" });
    };
    try {
      const message = decodeGrpcWebBody(await options.readBody(stream), "binary");
      const stop = method.open(message, {
        send(sent) {
          begin();
          // A real node also drops a subscriber that reads too slowly.
          if (stream.writableLength > MAX_UNREAD_BYTES) stream.close(protocol.NGHTTP2_CANCEL);
          else stream.write(encodeGrpcWebMessage(sent, "binary"));
        },
        end() {
          begin();
          stream.end();
        },
        cut: () => stream.close(protocol.NGHTTP2_INTERNAL_ERROR),
      });
      begin();
      held.add(stream);
      if (!stream.closed) await once(stream, "close");
      held.delete(stream);
      stop();
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      respond(stream, error);
      stream.end();
    }
  }

  /** Sends the head of a reply, and its status after the last message. */
  function respond(stream: ServerHttp2Stream, { code, message }: Answer["status"]): void {
    stream.respond(
      { "content-type": "application/grpc", "x-sui-chain-id": options.chainId },
      { waitForTrailers: true },
    );
    stream.on("wantTrailers", () =>
      stream.sendTrailers({
        "grpc-status": String(code),
        ...(message !== "" && { "grpc-message": encodeStatusMessage(message) }),
      }),
    );
  }
}

/**
 * Passes the connections that begin with HTTP/2 to `accept`, and leaves the others to the server. The returned function
 * ends those that have sent nothing yet, which no other part knows.
 */
export function splitHttp2(server: Server, accept: (socket: Socket) => void): () => void {
  const acceptHttp1 = server.listeners("connection");
  const undecided = new Set<Socket>();
  server.removeAllListeners("connection");
  server.on("connection", (socket: Socket) => {
    socket.on("error", () => {});
    undecided.add(socket);
    socket.once("close", () => undecided.delete(socket));
    socket.once("readable", function decide() {
      const head = (socket.read() as Buffer | null) ?? Buffer.alloc(0);
      const knownBytes = Math.min(head.length, PREFACE.length);
      const isPreface = head.subarray(0, knownBytes).equals(PREFACE.subarray(0, knownBytes));
      if (head.length > 0) socket.unshift(head);
      if (isPreface && knownBytes < PREFACE.length && !socket.readableEnded) {
        socket.once("readable", decide);
        return;
      }
      undecided.delete(socket);
      if (isPreface) {
        // The listener creates half-open sockets, on which a session would outlive its peer.
        socket.allowHalfOpen = false;
        accept(socket);
      } else for (const listener of acceptHttp1) listener.call(server, socket);
    });
  });
  return () => {
    // Bytes that have already arrived are read in the next turn, and decide the connection.
    setImmediate(() =>
      setImmediate(() => {
        for (const socket of undecided) socket.destroy();
      }),
    );
  };
}

export interface NativeServerOptions {
  /** The digest of the first checkpoint, in Base58. */
  readonly chainId: string;
  readonly answerCall: AnswerCall;
  readonly streamingMethods: readonly StreamingMethod[];
  /** Reads a request's body. Throws RESOURCE_EXHAUSTED if it is too large. */
  readonly readBody: (body: AsyncIterable<Buffer>) => Promise<Buffer>;
  readonly closeGraceMs: number;
  readonly log: WriteLog;
}

export interface NativeServer {
  readonly accept: (socket: Socket) => void;
  /** Ends the streams, and the connections after their last reply, within the grace time. */
  readonly close: () => void;
}

/** The first bytes of an HTTP/2 connection with prior knowledge (RFC 9113, 3.4). */
const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");

/** Returns the HTTP status for a request that is not gRPC. */
function refusalOf(headers: IncomingHttpHeaders): number | undefined {
  if (headers[":method"] !== "POST") return 405;
  return /^application\/grpc($|[+;])/.test(headers["content-type"] ?? "") ? undefined : 415;
}
