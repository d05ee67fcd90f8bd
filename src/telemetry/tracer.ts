import {
  type Tracer as ApiTracer,
  context,
  INVALID_SPAN_CONTEXT,
  type Span,
  type SpanContext,
  type SpanOptions,
  SpanStatusCode,
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
