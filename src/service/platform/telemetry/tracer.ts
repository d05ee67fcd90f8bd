import {
  type Tracer as ApiTracer,
  context,
  createTraceState,
  INVALID_SPAN_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";

/** A tracer of OpenTelemetry's API. */
export type Tracer = Pick<ApiTracer, "startSpan">;

const NO_SPAN = trace.wrapSpanContext(INVALID_SPAN_CONTEXT);

/** A tracer that records nothing. */
export const NO_TRACER: Tracer = { startSpan: () => NO_SPAN };

/** Returns false if the tracer records nothing, so that callers can skip preparations. */
export function isTracing(tracer: Tracer): boolean {
  return tracer !== NO_TRACER;
}

/** Begins a span in the trace of another process or call. */
export function startRemoteSpan(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  parent: SpanContext | undefined,
): Span {
  const active = context.active();
  return tracer.startSpan(
    name,
    options,
    parent === undefined ? active : trace.setSpanContext(active, { ...parent, isRemote: true }),
  );
}

/** Runs work inside a span. Spans that begin during the work are its children. */
export function runIn<T>(span: Span, work: () => T): T {
  return span.isRecording() ? context.with(trace.setSpan(context.active(), span), work) : work();
}

/**
 * Runs work in a new child of the current span. The span ends with the work and records its failure. Attributes never
 * contain values from a caller or secrets.
 */
export async function inSpan<T>(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  work: (span: Span) => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, options);
  try {
    return await runIn(span, () => work(span));
  } catch (error) {
    failSpan(span, failureKind(error));
    throw error;
  } finally {
    span.end();
  }
}

/** Marks a span as failed with the kind of failure. The text of the failure belongs in the log. */
export function failSpan(span: Span, kind: string): void {
  span.setAttribute("error.type", kind).setStatus({ code: SpanStatusCode.ERROR, message: kind });
}

/** Returns the kind of a failure without its text: a code such as an SQLSTATE, or the name of the error. */
export function failureKind(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}

/**
 * Parses the W3C headers `traceparent` and `tracestate` (w3.org/TR/trace-context). Returns undefined for an invalid
 * `traceparent`, because the standard requires ignoring it. A later version may have more fields at its end.
 */
export function parseTraceContext(traceparent: unknown, tracestate?: unknown): SpanContext | undefined {
  if (typeof traceparent !== "string") return undefined;
  const [, version, traceId, spanId, flags, more] = FORM.exec(traceparent) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined)
    return undefined;
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED;
  const context = { traceId, spanId, traceFlags };
  const hasState = typeof tracestate === "string" && tracestate.length <= STATE_MAX_CHARACTERS;
  return hasState ? { ...context, traceState: createTraceState(tracestate) } : context;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
/** The longest `tracestate` that is passed on. */
const STATE_MAX_CHARACTERS = 512;

/** Returns the `traceparent` of a span. */
export function formatTraceParent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-${traceFlags & TraceFlags.SAMPLED ? "01" : "00"}`;
}
