import type { OutgoingHttpHeaders } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { Call } from "../calls/call.ts";
import type { CallContext } from "../calls/call-context.ts";
import type { CallParts } from "../calls/call-parts.ts";
import { BINARY, type MessageCodec } from "../calls/message-codec.ts";
import { addChallenge, httpStatusOfCode } from "../calls/transport-error.ts";
import { replyCompression, requestCompression } from "../http/compression.ts";
import { bodyOf, type ServerReply, type ServerRequest, writeHead } from "../http/node-http.ts";
import { receiveBody } from "../http/receive-body.ts";
import { sendBody } from "../http/send-body.ts";
import { openConnectCall } from "../open-connect-call.ts";
import { runUnary, type UnaryExchange, type UnarySpec } from "./run-unary.ts";

/** Serves one unary call of the Connect protocol (connectrpc.com/docs/protocol) by POST. Never rejects. */
export function serveConnectUnary(
  spec: UnarySpec,
  codec: MessageCodec,
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  parts: CallParts,
): Promise<void> {
  const { context, refusal } = openConnectCall(spec.method, request, reply, call, parts.limits);
  const exchange = new ConnectExchange(spec, codec, request, reply, context, refusal, parts);
  return runUnary(spec, context, exchange, parts);
}

/** Returns the codec of a unary Connect call by its content type, or `undefined` for another type. */
export function connectCodecOf(
  contentType: string | undefined,
  json: MessageCodec,
): MessageCodec | undefined {
  if (contentType === "application/json") return json;
  if (contentType === undefined) return undefined;
  const match = /^application\/(?:(json)|proto)$/i.exec(contentType);
  if (match === null) return undefined;
  return match[1] === undefined ? BINARY : json;
}

class ConnectExchange implements UnaryExchange {
  readonly #spec: UnarySpec;
  readonly #codec: MessageCodec;
  readonly #request: ServerRequest;
  readonly #reply: ServerReply;
  readonly #context: CallContext;
  readonly #refusal: ConnectError | undefined;
  readonly #parts: CallParts;

  constructor(
    spec: UnarySpec,
    codec: MessageCodec,
    request: ServerRequest,
    reply: ServerReply,
    context: CallContext,
    refusal: ConnectError | undefined,
    parts: CallParts,
  ) {
    this.#spec = spec;
    this.#codec = codec;
    this.#request = request;
    this.#reply = reply;
    this.#context = context;
    this.#refusal = refusal;
    this.#parts = parts;
  }

  async receive(): Promise<Message> {
    const { headers } = this.#request;
    const compression = requestCompression(headers["content-encoding"], "accept-encoding", this.#context);
    if (this.#refusal !== undefined) throw this.#refusal;
    const { bodyBytes, bodyTimeoutMs } = this.#parts.limits;
    checkSize(Number(headers["content-length"] ?? 0), bodyBytes);
    const bytes = await receiveBody(bodyOf(this.#request), this.#context, {
      timeoutMs: this.#context.bodyTimeoutMs(bodyTimeoutMs),
      check: (sizeBytes) => checkSize(sizeBytes, bodyBytes),
    });
    // Nothing is never compressed (Connect Protocol, Unary-Request).
    if (compression === undefined || bytes.length === 0)
      return this.#codec.parse(this.#spec.method.input, bytes);
    const whole = await compression.decompress(bytes as Uint8Array<ArrayBuffer>, bodyBytes);
    return this.#codec.parse(this.#spec.method.input, whole);
  }

  reply(output: Message): void | Promise<void> {
    const bytes = this.#codec.serialize(this.#spec.method.output, output);
    return this.#send(200, this.#codec === BINARY ? "application/proto" : "application/json", bytes);
  }

  fail(error: ConnectError): void {
    if (this.#reply.destroyed || this.#reply.headersSent) {
      if (!this.#reply.writableEnded) this.#reply.destroy();
      return;
    }
    error.metadata.forEach((value, name) => {
      this.#context.responseHeader.append(name, value);
    });
    const body = errorToJsonBytes(error, this.#parts.jsonForm);
    const status = httpStatusOfCode(error.code);
    addChallenge(status, this.#context.responseHeader);
    void this.#write(status, "application/json", body);
  }

  #send(status: number, contentType: string, body: Uint8Array): void | Promise<void> {
    const { "accept-encoding": accepted, "content-encoding": encoding } = this.#request.headers;
    const compression = replyCompression(body.length, accepted, encoding);
    if (compression === undefined) return this.#write(status, contentType, body);
    return compression
      .compress(body as Uint8Array<ArrayBuffer>)
      .then((compressed) => this.#write(status, contentType, compressed, compression.name));
  }

  #write(status: number, contentType: string, body: Uint8Array, encoding?: string): void | Promise<void> {
    if (this.#reply.destroyed) return;
    const { setHeaders, setTrailers } = this.#context;
    const head: OutgoingHttpHeaders = {
      "content-type": contentType,
      "content-length": body.length,
      "x-request-id": this.#context.call.requestId,
    };
    if (encoding !== undefined) head["content-encoding"] = encoding;
    setTrailers?.forEach((value, name) => {
      head[`trailer-${name}`] = value;
    });
    if (setHeaders === undefined) this.#reply.writeHead(status, head);
    else writeHead(this.#reply, status, setHeaders, head);
    return sendBody(this.#reply, body, this.#parts.limits);
  }
}

function checkSize(sizeBytes: number, maxBytes: number): void {
  if (sizeBytes <= maxBytes) return;
  throw new ConnectError(
    `message size is larger than configured readMaxBytes ${maxBytes}`,
    Code.ResourceExhausted,
  );
}
