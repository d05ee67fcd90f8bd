import { constants, type OutgoingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { ConnectError } from "@connectrpc/connect";
import type { CallContext } from "../call-context.ts";
import { nodeHeaders } from "../node-http.ts";
import { setGrpcStatus } from "./grpc-status.ts";

const OK: OutgoingHttpHeaders = { "grpc-status": "0" };

/** Returns the head of a gRPC reply, with the headers that gate, interceptors and implementation have set. */
export function replyHead({ call, setHeaders }: CallContext): OutgoingHttpHeaders {
  const head: OutgoingHttpHeaders = {
    ":status": 200,
    "content-type": "application/grpc+proto",
    "x-request-id": call.requestId,
  };
  return setHeaders === undefined ? head : Object.assign(head, nodeHeaders(setHeaders));
}

/** Returns the trailers of a successful call. */
export function okTrailers({ setTrailers }: CallContext): OutgoingHttpHeaders {
  return setTrailers === undefined ? OK : { ...nodeHeaders(setTrailers), ...OK };
}

/** Returns the trailers of a failed call. */
export function failureTrailers({ setTrailers }: CallContext, error: ConnectError): OutgoingHttpHeaders {
  return nodeHeaders(setGrpcStatus(new Headers(setTrailers), error));
}

/** Replies with a failure only: one head that contains the status (Trailers-Only). */
export function replyFailure(stream: ServerHttp2Stream, context: CallContext, error: ConnectError): void {
  // Closes a stream whose request was not read to its end. Otherwise the caller would keep sending.
  stream.once("finish", () => {
    if (!stream.readableEnded) stream.close(constants.NGHTTP2_NO_ERROR);
  });
  stream.respond({ ...replyHead(context), ...failureTrailers(context, error) }, { endStream: true });
}
