import http2 from "node:http2";
import { create, type DescMethod, fromJson, toBinary } from "@bufbuild/protobuf";
import { StatusSchema } from "../../../../../gen/proto/google/rpc/status_pb.ts";
import type { ProtocolClient } from "./protocol-client.ts";
import { statusOfBinary, toWireReply, type WireReply } from "./wire-reply.ts";

/** A request as it is sent over HTTP/2. */
export interface GrpcRequest {
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The message with its frame head. */
  readonly body: Uint8Array;
}

/** A gRPC client on plain HTTP/2. */
export interface GrpcClient extends ProtocolClient {
  send(request: GrpcRequest, url?: string): Promise<WireReply>;
}

/** Calls methods by their names. */
export function createGrpcClient(baseUrl: string): GrpcClient {
  const sessions = new Map<string, http2.ClientHttp2Session>();
  const sessionOf = (url: string) => {
    const known = sessions.get(url);
    if (known !== undefined && !known.closed) return known;
    const session = http2.connect(url);
    // A server that ends closes its sessions.
    session.on("error", () => {});
    sessions.set(url, session);
    return session;
  };
  const send = (request: GrpcRequest, url = baseUrl) => sendOver(sessionOf(url), request);
  return {
    name: "grpc",
    call({ method, request = {}, key, headers = {}, timeoutMs, url }) {
      const sent = {
        path: grpcPathOf(method),
        body: grpcFrame(toBinary(method.input, fromJson(method.input, request))),
        headers: {
          ...(key !== undefined && { authorization: `Bearer ${key}` }),
          ...(timeoutMs !== undefined && { "grpc-timeout": `${timeoutMs}m` }),
          ...headers,
        },
      };
      return send(sent, url);
    },
    send,
    close() {
      for (const session of sessions.values()) session.destroy();
    },
  };
}

/** `/package.Service/Method`. */
export function grpcPathOf(method: DescMethod): string {
  return `/${method.parent.typeName}/${method.name}`;
}

/** One uncompressed message with the head of its frame. */
export function grpcFrame(message: Uint8Array): Uint8Array {
  const head = Buffer.alloc(5);
  head.writeUInt32BE(message.length, 1);
  return Buffer.concat([head, message]);
}

function sendOver(
  session: http2.ClientHttp2Session,
  { path, headers = {}, body }: GrpcRequest,
): Promise<WireReply> {
  return new Promise((resolve, reject) => {
    const stream = session.request({
      ":method": "POST",
      ":path": path,
      "content-type": "application/grpc",
      te: "trailers",
      ...headers,
    });
    const all = new Headers();
    let httpStatus = 0;
    const note = (received: http2.IncomingHttpHeaders) => {
      for (const [name, value] of Object.entries(received)) {
        if (!name.startsWith(":") && value !== undefined) all.set(name, String(value));
      }
    };
    stream.on("response", (received) => {
      httpStatus = Number(received[":status"]);
      note(received);
    });
    stream.on("trailers", note);
    const chunks: Buffer[] = [];
    stream.on("data", (chunk: Buffer) => chunks.push(chunk));
    stream.on("error", (error) => {
      if (!all.has("grpc-status")) reject(error);
    });
    stream.on("close", () => resolve(read(httpStatus, all, Buffer.concat(chunks))));
    stream.end(body);
  });
}

function read(httpStatus: number, headers: Headers, body: Buffer): WireReply {
  const code = Number(headers.get("grpc-status") ?? Number.NaN);
  if (Number.isNaN(code)) throw new Error(`a reply without grpc-status, HTTP ${httpStatus}`);
  const binary = headers.get("grpc-status-details-bin");
  const message = decodeURIComponent(headers.get("grpc-message") ?? "");
  const detailed = binary === null ? undefined : statusOfBinary(Buffer.from(binary, "base64"));
  if (detailed !== undefined && (detailed.code !== code || detailed.message !== message)) {
    throw new Error(`the status says ${detailed.code}, its details ${code}`);
  }
  return toWireReply({
    httpStatus,
    headers,
    status: code === 0 ? undefined : (detailed ?? create(StatusSchema, { code, message })),
    text: [
      JSON.stringify([...headers]),
      body.toString("latin1"),
      detailed && JSON.stringify(toText(detailed)),
    ].join("\n"),
  });
}

/** The decoded texts that base64 would hide from a search. */
function toText({ message, details }: { message: string; details: { value: Uint8Array }[] }): string[] {
  return [message, ...details.map(({ value }) => Buffer.from(value).toString("latin1"))];
}
