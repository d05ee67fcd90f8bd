import { once } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { WriteLog } from "../../network.ts";
import { RpcFailure, Status } from "../execution/failures.ts";
import {
  decodeGrpcWebBody,
  encodeGrpcWebBody,
  encodeGrpcWebMessage,
  type GrpcWebFormat,
  grpcWebContentType,
  grpcWebFormat,
} from "./grpc-web.ts";
import { createNativeServer, splitHttp2 } from "./native-grpc.ts";
import {
  type Answer,
  type AnswerCall,
  MAX_UNREAD_BYTES,
  NoAnswer,
  type StreamingMethod,
} from "./node-methods.ts";

/**
 * Serves unary and server-streaming calls on one port: as gRPC-web (binary and text) over HTTP/1.1, and as gRPC over
 * HTTP/2 in clear text. HTTP/1.1 also has the JSON routes.
 */
export async function startFullnodeServer(options: FullnodeServerOptions): Promise<FullnodeServer> {
  const routes = new Map(options.routes.map((route) => [`${route.method} ${route.path}`, route]));
  const streams = new Map(options.streamingMethods.map((method) => [method.path, method]));
  let closing = false;
  /** The responses to requests that never get an answer, and to streams that have not ended. */
  const held = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    // Otherwise a connection would keep the closing server open after its last response, until the idle time-out.
    response.on("prefinish", () => {
      if (closing) request.socket.end();
    });
    answer(request, response).catch((error: unknown) => {
      options.log("request failed", { error: error instanceof Error ? error.message : String(error) });
      response.destroy();
    });
  });
  server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
  const native = createNativeServer({ ...options, readBody, closeGraceMs: CLOSE_GRACE_MS });
  const endUndecided = splitHttp2(server, native.accept);
  await listen(server, options.host, options.port);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}`,
    port,
    close() {
      closing = true;
      for (const response of held) response.destroy();
      native.close();
      endUndecided();
      return close(server);
    },
  };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "/").split("?")[0] as string;
    if (request.method === "OPTIONS") return preflight(request, response);
    const route = routes.get(`${request.method} ${path}`);
    if (route !== undefined) return answerJson(route, request, response);
    if (request.method !== "POST") return end(response, 404, {}, "not found\n");
    const format = grpcWebFormat(request.headers["content-type"]);
    if (format === undefined) return end(response, 415, {}, "only gRPC-web is served here\n");
    const stream = streams.get(path);
    if (stream !== undefined) return answerStream(stream, format, request, response);
    return answerCall(path, format, request, response);
  }

  async function answerStream(
    method: StreamingMethod,
    format: GrpcWebFormat,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    const headers = replyHeaders(format);
    const begin = () => {
      if (!response.headersSent) response.writeHead(200, { ...CORS_HEADERS, ...headers }).flushHeaders();
    };
    try {
      const message = decodeGrpcWebBody(await readBody(request), format);
      const stop = method.open(message, {
        send(sent) {
          begin();
          // A real node also drops a subscriber that reads too slowly.
          if (response.writableLength > MAX_UNREAD_BYTES) response.destroy();
          else response.write(encodeGrpcWebMessage(sent, format));
        },
        end() {
          begin();
          response.end(encodeGrpcWebBody(undefined, { code: 0, message: "" }, format));
        },
        cut: () => response.destroy(),
      });
      begin();
      await hold(response);
      stop();
    } catch (error) {
      if (!(error instanceof RpcFailure)) throw error;
      end(response, 200, headers, encodeGrpcWebBody(undefined, error, format));
    }
  }

  async function answerCall(
    path: string,
    format: GrpcWebFormat,
    request: IncomingMessage,
    response: ServerResponse,
  ): Promise<void> {
    let reply: Answer;
    try {
      reply = await options.answerCall(path, readBody(request), format);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      if (closing || error.how === "connection-breaks") response.destroy();
      else await hold(response);
      return;
    }
    end(response, 200, replyHeaders(format), encodeGrpcWebBody(reply.message, reply.status, format));
  }

  /** Returns the headers of a gRPC-web reply. Like a real node, the localnet names its chain in each one. */
  function replyHeaders(format: GrpcWebFormat): Record<string, string> {
    return { "content-type": grpcWebContentType(format), "x-sui-chain-id": options.chainId };
  }

  /** Leaves the request unanswered until the caller or the node closes the connection. */
  async function hold(response: ServerResponse): Promise<void> {
    if (response.closed) return;
    held.add(response);
    await once(response, "close");
    held.delete(response);
  }
}

/** An HTTP route, next to the gRPC methods, that answers with JSON. */
export interface JsonRoute {
  readonly method: "GET" | "POST";
  readonly path: string;
  handle(body: Uint8Array): Promise<{ readonly status: number; readonly json: unknown }>;
}

export interface FullnodeServerOptions {
  readonly host: string;
  /** 0 takes a free port. */
  readonly port: number;
  /** The digest of the first checkpoint, in Base58. */
  readonly chainId: string;
  readonly answerCall: AnswerCall;
  readonly streamingMethods: readonly StreamingMethod[];
  readonly routes: readonly JsonRoute[];
  readonly log: WriteLog;
}

export interface FullnodeServer {
  readonly url: string;
  readonly port: number;
  /** Stops accepting requests, answers the pending ones, then closes every connection. */
  close(): Promise<void>;
}

const MAX_BODY_BYTES = 1024 * 1024;
/** Long enough for clients that compute between two requests, for minutes on a busy machine. */
const KEEP_ALIVE_TIMEOUT_MS = 600_000;

/** The time to answer pending requests when the node closes. */
const CLOSE_GRACE_MS = 1_000;

const CORS_HEADERS = {
  "access-control-allow-origin": "*",
  "access-control-expose-headers": "grpc-status, grpc-message, grpc-status-details-bin",
};

async function answerJson(
  route: JsonRoute,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  let reply: { readonly status: number; readonly json: unknown };
  try {
    reply = await route.handle(await readBody(request));
  } catch (error) {
    const expected = error instanceof RpcFailure;
    reply = { status: expected ? 400 : 500, json: { error: expected ? error.message : "internal error" } };
  }
  end(response, reply.status, { "content-type": "application/json" }, `${JSON.stringify(reply.json)}\n`);
}

function preflight(request: IncomingMessage, response: ServerResponse): void {
  const headers = {
    "access-control-allow-methods": "POST, GET, OPTIONS",
    "access-control-allow-headers": request.headers["access-control-request-headers"] ?? "*",
    "access-control-max-age": "86400",
  };
  end(response, 204, headers, "");
}

function end(
  response: ServerResponse,
  status: number,
  headers: Record<string, string>,
  body: string | Buffer,
): void {
  response.writeHead(status, { ...CORS_HEADERS, ...headers });
  response.end(body);
}

async function readBody(request: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request) {
    length += chunk.length;
    // Reads and drops the rest of the body, so that the client can read the answer.
    if (length <= MAX_BODY_BYTES) chunks.push(chunk);
  }
  if (length > MAX_BODY_BYTES)
    throw new RpcFailure(Status.ResourceExhausted, `body exceeds ${MAX_BODY_BYTES} bytes`);
  return Buffer.concat(chunks);
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.removeListener("error", reject);
      resolve();
    });
  });
}

function close(server: Server): Promise<void> {
  return new Promise((resolve, reject) => {
    // Node does not treat a connection without any request as idle.
    const cut = setTimeout(() => server.closeAllConnections(), CLOSE_GRACE_MS);
    server.close((error) => {
      clearTimeout(cut);
      if (error === undefined) resolve();
      else reject(error);
    });
    server.closeIdleConnections();
  });
}
