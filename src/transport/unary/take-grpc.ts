import { Call } from "../call.ts";
import type { CallWrapper } from "../call-wrapper.ts";
import type { FinishedCall } from "../finished-call.ts";
import type { StreamTaker } from "../http2-streams.ts";
import { chooseRequestId } from "../request-id.ts";
import { isGrpcProto, serveGrpcUnary } from "./grpc-unary.ts";
import type { UnarySpec } from "./invoke-unary.ts";
import type { UnaryParts } from "./run-unary.ts";

/** Takes the streams that are unary gRPC calls; a browser's are left to what knows CORS. */
export function createGrpcTaker(
  specs: ReadonlyMap<string, UnarySpec>,
  parts: UnaryParts,
  onCallEnd: ((call: FinishedCall) => void) | undefined,
  aroundCall: CallWrapper = (_call, serve) => serve(),
): StreamTaker {
  return (stream, headers) => {
    if (!isGrpcProto(headers["content-type"]) || headers[":method"] !== "POST") return false;
    const spec = specs.get(headers[":path"] ?? "");
    if (spec === undefined || headers.origin !== undefined) return false;
    const call = new Call(
      {
        requestId: chooseRequestId(headers["x-request-id"]),
        protocol: "grpc",
        peerAddress: stream.session?.socket.remoteAddress ?? "",
      },
      onCallEnd,
    );
    const serve = () => serveGrpcUnary(spec, stream, headers, call, parts);
    aroundCall({ headers, values: call.values }, serve).catch(parts.onError);
    return true;
  };
}
