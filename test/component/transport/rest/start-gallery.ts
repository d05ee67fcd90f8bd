import type { Message } from "@bufbuild/protobuf";
import type { HandlerContext } from "@connectrpc/connect";
import { createErrorInterceptor } from "../../../../src/service/platform/errors/error-interceptor.ts";
import {
  createErrorMapping,
  type FailureRecord,
} from "../../../../src/service/platform/errors/error-mapping.ts";
import type { FinishedCall } from "../../../../src/transport/calls/call.ts";
import { registerService } from "../../../../src/transport/calls/service-registration.ts";
import type { Limits } from "../../../../src/transport/limits.ts";
import { startServer, type TransportServer } from "../../../../src/transport/start-server.ts";
import { Gallery } from "./gallery.ts";

/** A message as a handler sees it. */
export type Fields = Message & Record<string, unknown>;
/** The return value of a handler: fields of its reply, or a stream of them. */
export type Handler = (message: Fields, context: HandlerContext) => unknown;

/** A server of the gallery. */
export interface GalleryServer extends TransportServer {
  readonly calls: FinishedCall[];
  /** The log, newest last. */
  readonly failures: FailureRecord[];
  send(method: string, path: string, options?: SendOptions): Promise<Reply>;
}

/** The parts of a request besides its method and path. A body that is neither a string nor octets is sent as JSON. */
export interface SendOptions {
  readonly body?: unknown;
  readonly headers?: Record<string, string>;
}

/** A reply, read to its end. `json` is set for a JSON body. */
export interface Reply {
  readonly status: number;
  readonly headers: Headers;
  readonly octets: Buffer;
  readonly text: string;
  readonly json: unknown;
  /** The reason of an error, its fields and its message. */
  readonly failure: { reason: string | undefined; fields: string[]; message: string };
}

/** Starts the gallery on a free port. Methods without a handler reply with their request. */
export async function startGallery(
  handlers: Readonly<Record<string, Handler>> = {},
  limits: Partial<Limits> = {},
): Promise<GalleryServer> {
  const calls: FinishedCall[] = [];
  const failures: FailureRecord[] = [];
  const errors = createErrorMapping((failure) => failures.push(failure));
  const echo: Handler = (message) => message;
  const implementation = Object.fromEntries(
    Gallery.methods.map(({ localName }) => [localName, handlers[localName] ?? echo]),
  );
  const server = await startServer({
    host: "127.0.0.1",
    port: 0,
    services: [registerService(Gallery, implementation as never)],
    interceptors: [createErrorInterceptor(errors)],
    errors,
    limits,
    onCallEnd: (call) => calls.push(call),
  });
  const send = async (method: string, path: string, { body, headers = {} }: SendOptions = {}) => {
    const isRaw = typeof body === "string" || body instanceof Uint8Array;
    const reply = await fetch(server.url + path, {
      method,
      headers: { ...(body === undefined || isRaw ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: isRaw ? (body as string) : JSON.stringify(body) }),
    });
    return readReply(reply);
  };
  return Object.assign(server, { calls, failures, send });
}

async function readReply(reply: Response): Promise<Reply> {
  const octets = Buffer.from(await reply.arrayBuffer());
  const text = octets.toString();
  const isJson = reply.headers.get("content-type") === "application/json" && text !== "";
  const json: unknown = isJson ? JSON.parse(text) : undefined;
  return { status: reply.status, headers: reply.headers, octets, text, json, failure: failureOf(json) };
}

function failureOf(json: unknown): Reply["failure"] {
  const { message = "", details = [] } = (json ?? {}) as {
    message?: string;
    details?: { reason?: string; fieldViolations?: { field: string }[] }[];
  };
  const list = Array.isArray(details) ? details : [];
  return {
    reason: list.find(({ reason }) => reason !== undefined)?.reason,
    fields: list.flatMap(({ fieldViolations = [] }) => fieldViolations.map(({ field }) => field)),
    message,
  };
}
