import { Code, type ContextValues, createContextKey } from "@connectrpc/connect";
import type { CallWrapper } from "../transport/call-wrapper.ts";
import type { FinishedCall } from "../transport/finished-call.ts";
import { formatTraceParent, parseTraceContext } from "./trace-context.ts";
import type { Span, Tracer } from "./tracer.ts";

interface CallTrace {
  readonly traceId: string;
  /** Undefined if the trace is not recorded here. */
  readonly span?: Span;
}

const callTraceKey = createContextKey<CallTrace | undefined>(undefined, { description: "trace" });

/**
 * Runs each call in its own span, a child of the caller's `traceparent` if it is valid. Without a tracer it keeps only
 * the caller's trace id for the log.
 */
export function traceCalls(tracer: Tracer): CallWrapper {
  return ({ headers, values }, serve) => {
    const { traceparent } = headers;
    if (traceparent === undefined && !tracer.isOn) return serve();
    const parent = parseTraceContext(traceparent, headers["tracestate"]);
    const span = tracer.startSpan("call", { kind: "server", parent, isRoot: true });
    const traceId = span?.context.traceId ?? parent?.traceId;
    if (traceId !== undefined) values.set(callTraceKey, { traceId, ...(span && { span }) });
    return span === undefined ? serve() : span.run(serve);
  };
}

/** The id of a call's trace, if any. */
export function traceIdOf(values: ContextValues): string | undefined {
  return values.get(callTraceKey)?.traceId;
}

/** The `traceparent` of the call's span, for later work on its behalf; undefined if it is not recorded. */
export function traceParentOf(values: ContextValues): string | undefined {
  const span = values.get(callTraceKey)?.span;
  return span && formatTraceParent(span.context);
}

/** Ends the span of a call. Returns the labels of an exemplar if the span is recorded. */
export function endCallSpan(call: FinishedCall): { trace_id: string; span_id: string } | undefined {
  const span = call.values.get(callTraceKey)?.span;
  if (span === undefined) return undefined;
  const [service = "", method = ""] = call.method.split("/");
  span.rename(call.method);
  span.set({
    "rpc.system": SYSTEMS[call.protocol] ?? call.protocol,
    ...(method && { "rpc.service": service, "rpc.method": method }),
    "tss.protocol": call.protocol,
    "tss.request_id": call.requestId,
  });
  if (call.code !== undefined) span.set({ "rpc.response.status_code": Code[call.code] });
  if (call.code !== undefined && OUR_FAULTS.has(call.code)) span.fail(Code[call.code]);
  span.end();
  return { trace_id: span.context.traceId, span_id: span.context.spanId };
}

/** The names of OpenTelemetry's semantic conventions. */
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
