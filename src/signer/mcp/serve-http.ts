import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import type { Secret } from "../../service/platform/telemetry/secret.ts";
import { anyoneWith } from "../access/callers.ts";
import { SignerError } from "../signer-error.ts";
import { connectMcp } from "./mcp-server.ts";
import type { McpTools } from "./mcp-tools.ts";

/**
 * Serves agents over streamable HTTP on the loopback address, for callers with the token. It keeps no sessions: each
 * message is a request, so that there is nothing to take over, to leak or to restart.
 */
export async function serveHttp(
  tools: McpTools,
  version: string,
  { port, token }: HttpOptions,
): Promise<RunningHttp> {
  const callers = anyoneWith(token);
  let callCount = 0;
  const server = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 }, (request, reply) => {
    void answer(request, reply).catch(() => refuse(reply, 500, "internal error"));
  });
  server.maxConnections = MAX_CONNECTIONS;

  async function answer(request: IncomingMessage, reply: ServerResponse): Promise<void> {
    // A page of a browser sends an origin, and a name that its owner has pointed at this machine.
    if (request.headers.origin !== undefined) return refuse(reply, 403, "no page of a browser may call this");
    if (!LOOPBACK_HOST.test(request.headers.host ?? ""))
      return refuse(reply, 403, "the host is not this machine");
    try {
      const headers = new Headers({ authorization: request.headers.authorization ?? "" });
      callers.identify({ headers, certificate: undefined, isOnSocket: false });
    } catch (error) {
      const reason = error instanceof SignerError ? error.message : "internal error";
      reply.setHeader("www-authenticate", "Bearer");
      return refuse(reply, 401, reason);
    }
    if (request.url !== "/mcp") return refuse(reply, 404, "the path is /mcp");
    if (request.method !== "POST") {
      reply.setHeader("allow", "POST");
      return refuse(reply, 405, "there are no sessions: send each message with POST");
    }
    if (callCount >= MAX_CALLS) return refuse(reply, 503, `${MAX_CALLS} calls run`);
    callCount++;
    try {
      const body = await readBody(request);
      if (body === undefined) return refuse(reply, 413, `a message has at most ${MAX_BODY_BYTES} bytes`);
      const message = parse(body);
      // A batch would be many calls in the place of one.
      if (message === undefined || Array.isArray(message))
        return refuse(reply, 400, "the body is not one message");
      await serveMessage(message, request, reply);
    } finally {
      callCount--;
    }
  }

  async function serveMessage(
    message: object,
    request: IncomingMessage,
    reply: ServerResponse,
  ): Promise<void> {
    const transport = new StreamableHTTPServerTransport({ enableJsonResponse: true });
    const mcp = await connectMcp(tools, version, transport as Transport);
    const ended = once(reply, "close");
    try {
      // Handling waits for the tool. An agent that leaves ends it, and its place is free.
      await Promise.race([transport.handleRequest(request, reply, message), ended]);
      await ended;
    } finally {
      await mcp.close();
    }
  }

  server.listen({ port, host: "127.0.0.1" });
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async close() {
      const closed = once(server, "close");
      server.close();
      server.closeIdleConnections();
      const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
      await closed;
      clearTimeout(cut);
    },
  };
}

interface HttpOptions {
  /** 0 selects a free port. */
  readonly port: number;
  readonly token: Secret;
}

/** A running server. */
interface RunningHttp {
  readonly url: string;
  /** Waits for calls that run, and cuts them after some seconds. */
  close(): Promise<void>;
}

const MAX_CONNECTIONS = 64;
/** The most calls at a time, with those that wait for a signature. */
const MAX_CALLS = 16;
const MAX_BODY_BYTES = 256 * 1024;
const DRAIN_MS = 5_000;
const LOOPBACK_HOST = /^(?:127\.0\.0\.1|localhost|\[::1\])(?::\d{1,5})?$/i;

function refuse(reply: ServerResponse, status: number, message: string): void {
  if (reply.headersSent) {
    reply.destroy();
    return;
  }
  const error = { jsonrpc: "2.0", id: null, error: { code: -32_000, message } };
  // The connection ends, so that nobody has to read the rest of a refused body.
  reply
    .writeHead(status, { "content-type": "application/json", connection: "close" })
    .end(JSON.stringify(error));
}

/** Returns the body, or undefined if it is too long. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let sizeBytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    sizeBytes += chunk.length;
    if (sizeBytes > MAX_BODY_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parse(body: string): object | undefined {
  try {
    const message: unknown = JSON.parse(body);
    return typeof message === "object" && message !== null ? message : undefined;
  } catch {
    return undefined;
  }
}
