import { Call } from "../call.ts";
import type { CallParts } from "../call-parts.ts";
import type { CallWrapper } from "../call-wrapper.ts";
import type { FinishedCall } from "../finished-call.ts";
import type { StreamTaker } from "../http2-streams.ts";
import type { OwnSpec } from "../own-specs.ts";
import { chooseRequestId } from "../request-id.ts";
import { serveGrpcStream } from "./grpc-stream.ts";
import { serveGrpcUnary } from "./grpc-unary.ts";

/**
 * Takes the streams that are gRPC calls with one request message. It leaves browsers' streams to the handlers with
 * CORS.
 */
export function createGrpcTaker({
  specs,
  parts,
  closing,
  onCallEnd,
  aroundCall = (_call, serve) => serve(),
}: GrpcTakerOptions): StreamTaker {
  return (stream, headers) => {
    if (!isGrpcProto(headers["content-type"]) || headers[":method"] !== "POST") return false;
    const spec = specs.get(headers[":path"] ?? "");
    if (spec === undefined || headers.origin !== undefined) return false;
    const call = new Call(
      {
        requestId: chooseRequestId(headers["x-request-id"]),
        protocol: "grpc",
        peerAddress: stream.session?.socket.remoteAddress ?? "",
        ...(spec.kind === "unary" ? {} : { closing }),
      },
      onCallEnd,
    );
    const serve = () =>
      spec.kind === "unary"
        ? serveGrpcUnary(spec, stream, headers, call, parts)
        : serveGrpcStream(spec, stream, headers, call, parts);
    aroundCall({ headers, values: call.values }, serve).catch(parts.onError);
    return true;
  };
}

/** Options of {@link createGrpcTaker}. */
export interface GrpcTakerOptions {
  readonly specs: ReadonlyMap<string, OwnSpec>;
  readonly parts: CallParts;
  /** Fires when the server is about to close. */
  readonly closing: AbortSignal;
  readonly onCallEnd: ((call: FinishedCall) => void) | undefined;
  readonly aroundCall: CallWrapper | undefined;
}

/** Whether a content type is gRPC with protobuf messages, in either common spelling. */
function isGrpcProto(contentType: string | undefined): boolean {
  return contentType === "application/grpc" || contentType === "application/grpc+proto";
}
