import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import { setTrailerStatus } from "@connectrpc/connect/protocol-grpc";
import type { CallContext } from "../call-context.ts";
import { nodeHeaders } from "../node-http.ts";

const OK: OutgoingHttpHeaders = { "grpc-status": "0" };

/** The head of a gRPC reply, with what gate, interceptors and implementation have set. */
export function replyHead({ call, setHeaders }: CallContext): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    "x-request-id": call.requestId,
  };
  return setHeaders === undefined ? head : Object.assign(head, nodeHeaders(setHeaders));
}

/** The trailers of a call that went well. */
export function okTrailers({ setTrailers }: CallContext): OutgoingHttpHeaders {
  return setTrailers === undefined ? OK : { ...nodeHeaders(setTrailers), ...OK };
}

/** The trailers of a call that failed. */
export function failureTrailers({ setTrailers }: CallContext, error: ConnectError): OutgoingHttpHeaders {
  return nodeHeaders(setTrailerStatus(new Headers(setTrailers), error));
}

/** Answers with a failure alone: one head that holds the status too (Trailers-Only). */
export function replyFailure(stream: ServerHttp2Stream, context: CallContext, error: ConnectError): void {
  // A stream whose request was not read to its end is closed, or the caller would go on sending.
  stream.once("finish", () => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
  stream.respond({ ...replyHead(context), ...failureTrailers(context, error) }, { endStream: true });
}
