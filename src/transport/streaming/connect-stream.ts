import type { OutgoingHttpHeaders } from "node:http";
import type { Message } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import type { Compression } from "@connectrpc/connect/protocol";
import { createEndStreamSerialization, endStreamFlag } from "@connectrpc/connect/protocol-connect";
import type { Call } from "../calls/call.ts";
import type { CallContext } from "../calls/call-context.ts";
import type { CallParts } from "../calls/call-parts.ts";
import { BINARY, type MessageCodec } from "../calls/message-codec.ts";
import { receiveEnveloped, writeMessage } from "../envelope.ts";
import { acceptedCompression } from "../http/compression.ts";
import { bodyOf, type ServerReply, type ServerRequest, writeHead } from "../http/node-http.ts";
import { UNINTERRUPTED } from "../http/receive-body.ts";
import { openConnectCall } from "../open-connect-call.ts";
import { runStream, type StreamExchange, type StreamSpec } from "./run-stream.ts";

/** Serves one server-streaming call of the Connect protocol (connectrpc.com/docs/protocol). Never rejects. */
export function serveConnectStream(
  spec: StreamSpec,
  codec: MessageCodec,
  request: ServerRequest,
  reply: ServerReply,
  call: Call,
  parts: CallParts,
): Promise<void> {
  const { context, refusal } = openConnectCall(spec.method, request, reply, call, parts.limits);
  const exchange = new ConnectStreamExchange({ spec, codec, request, reply, context, refusal }, parts);
  return runStream(spec, context, exchange, parts);
}

/** Returns the codec of a streaming Connect call by its content type, or `undefined` for another type. */
export function connectStreamCodecOf(
  contentType: string | undefined,
  json: MessageCodec,
): MessageCodec | undefined {
  const match = /^application\/connect\+(?:(json)|proto)$/i.exec(contentType ?? "");
  if (match === null) return undefined;
  return match[1] === undefined ? BINARY : json;
}

interface ConnectSource {
  readonly spec: StreamSpec;
  readonly codec: MessageCodec;
  readonly request: ServerRequest;
  readonly reply: ServerReply;
  readonly context: CallContext;
  /** The error in the head, if any. */
  readonly refusal: ConnectError | undefined;
}

class ConnectStreamExchange implements StreamExchange {
  readonly #source: ConnectSource;
  readonly #parts: CallParts;
  #compression: Compression | undefined;

  constructor(source: ConnectSource, parts: CallParts) {
    this.#source = source;
    this.#parts = parts;
  }

  receive() {
    const { spec, request, context, codec, refusal } = this.#source;
    const { headers } = request;
    const enveloped = {
      body: () => bodyOf(request),
      headers,
      context,
      codec,
      refusal,
      limits: this.#parts.limits,
      input: spec.method.input,
      kind: "server-streaming" as const,
      encodingHeader: CONTENT_ENCODING,
      acceptEncodingHeader: ACCEPT_ENCODING,
    };
    return receiveEnveloped(enveloped, UNINTERRUPTED, (message, expectEnd) => ({ message, expectEnd }));
  }

  write(output: Message): Promise<void> {
    const { spec, codec, reply } = this.#source;
    if (!reply.headersSent) this.#begin();
    return this.#send(codec.serialize(spec.method.output, output), 0);
  }

  end(): void {
    this.#end();
  }

  fail(error: ConnectError): void {
    const { reply } = this.#source;
    if (reply.destroyed || reply.writableEnded) return;
    this.#end(error);
  }

  /** Writes the head, which names the compression of all messages. */
  #begin(): void {
    const { reply, context, codec, request } = this.#source;
    const { headers } = request;
    if (reply.destroyed) throw new ConnectError("the caller is gone", Code.Canceled);
    const head: OutgoingHttpHeaders = {
      "content-type": codec === BINARY ? "application/connect+proto" : "application/connect+json",
      "x-request-id": context.call.requestId,
    };
    this.#compression = acceptedCompression(headers[ACCEPT_ENCODING], headers[CONTENT_ENCODING]);
    if (this.#compression !== undefined) head[CONTENT_ENCODING] = this.#compression.name;
    const { setHeaders } = context;
    // A handler may set the length of its content, which differs from that of the envelopes.
    setHeaders?.delete("content-length");
    if (setHeaders === undefined) reply.writeHead(200, head);
    else writeHead(reply, 200, setHeaders, head);
    context.forgetHead();
  }

  #end(error?: ConnectError): void {
    const { reply, context } = this.#source;
    if (!reply.headersSent) this.#begin();
    const metadata = context.setTrailers ?? new Headers();
    const serialization = createEndStreamSerialization(this.#parts.jsonForm);
    const end = serialization.serialize(error === undefined ? { metadata } : { metadata, error });
    this.#send(end, endStreamFlag).then(
      () => reply.end(),
      () => reply.destroy(),
    );
  }

  #send(bytes: Uint8Array, flags: number): Promise<void> {
    const { reply } = this.#source;
    return writeMessage(reply, bytes, flags, this.#compression, this.#parts.limits);
  }
}

const CONTENT_ENCODING = "connect-content-encoding";
const ACCEPT_ENCODING = "connect-accept-encoding";
