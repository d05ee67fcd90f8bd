import { createTraceState, type SpanContext, TraceFlags } from "@opentelemetry/api";

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
