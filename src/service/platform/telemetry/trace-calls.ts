import { Code, type ContextValues, createContextKey } from "@connectrpc/connect";
import { type Span, SpanKind } from "@opentelemetry/api";
import type { FinishedCall } from "../../../transport/calls/call.ts";
import type { CallWrapper } from "../../../transport/calls/call-parts.ts";
import {
  failSpan,
  formatTraceParent,
  isTracing,
  parseTraceContext,
  runIn,
  startRemoteSpan,
  type Tracer,
} from "./tracer.ts";

/**
 * Runs each call in its own span, a child of the caller's `traceparent` if it is valid. Without a tracer it keeps only
 * the caller's trace id for the log.
 */
export function traceCalls(tracer: Tracer): CallWrapper {
  return ({ headers, values }, serve) => {
    const { traceparent } = headers;
    if (traceparent === undefined && !isTracing(tracer)) return serve();
    const parent = parseTraceContext(traceparent, headers["tracestate"]);
    const span = startRemoteSpan(tracer, "call", { kind: SpanKind.SERVER }, parent);
    if (!span.isRecording()) {
      if (parent !== undefined) values.set(callTraceKey, { traceId: parent.traceId });
      return serve();
    }
    values.set(callTraceKey, { traceId: span.spanContext().traceId, span });
    return runIn(span, serve);
  };
}

interface CallTrace {
  readonly traceId: string;
  /** Undefined if the trace is not recorded here. */
  readonly span?: Span;
}

const callTraceKey = createContextKey<CallTrace | undefined>(undefined, { description: "trace" });

/** Returns the id of a call's trace, if any. */
export function traceIdOf(values: ContextValues): string | undefined {
  return values.get(callTraceKey)?.traceId;
}

/** Returns the `traceparent` of the call's span, for later work on its behalf; undefined if it is not recorded. */
export function traceParentOf(values: ContextValues): string | undefined {
  const span = values.get(callTraceKey)?.span;
  return span && formatTraceParent(span.spanContext());
}

/** Ends the span of a call. Returns the labels of an exemplar if the span is recorded. */
export function endCallSpan(call: FinishedCall): { trace_id: string; span_id: string } | undefined {
  const span = call.values.get(callTraceKey)?.span;
  if (span === undefined) return undefined;
  const [service = "", method = ""] = call.method.split("/");
  span.updateName(call.method);
  span.setAttributes({
    "rpc.system": SYSTEMS[call.protocol] ?? call.protocol,
    ...(method && { "rpc.service": service, "rpc.method": method }),
    "tss.protocol": call.protocol,
    "tss.request_id": call.requestId,
  });
  if (call.code !== undefined) span.setAttribute("rpc.response.status_code", Code[call.code]);
  if (call.code !== undefined && OUR_FAULTS.has(call.code)) failSpan(span, Code[call.code]);
  span.end();
  const { traceId, spanId } = span.spanContext();
  return { trace_id: traceId, span_id: spanId };
}

/** The values of `rpc.system` in OpenTelemetry's semantic conventions. */
const SYSTEMS: Readonly<Record<string, string>> = {
  grpc: "grpc",
  "grpc-web": "grpc",
  connect: "connect_rpc",
};

/** The codes that the conventions count as server errors. */
const OUR_FAULTS: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);
