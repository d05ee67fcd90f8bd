/** The content of the W3C headers `traceparent` and `tracestate` (w3.org/TR/trace-context). */
export interface TraceContext {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** True if the trace's originator records it. */
  readonly isSampled: boolean;
  /** `tracestate`, passed on unchanged. */
  readonly state?: string;
}

const FORM = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;
const SAMPLED = 1;
/** The longest `tracestate` that is passed on. */
const STATE_MAX_CHARACTERS = 512;

/**
 * Parses the headers. Returns undefined for an invalid `traceparent`, which the standard tells to ignore. A later
 * version may have more fields at its end.
 */
export function parseTraceContext(traceparent: unknown, tracestate?: unknown): TraceContext | undefined {
  if (typeof traceparent !== "string") return undefined;
  const [, version, traceId, spanId, flags, more] = FORM.exec(traceparent) ?? [];
  if (version === undefined || traceId === undefined || spanId === undefined || flags === undefined)
    return undefined;
  if (version === "ff" || (version === "00" && more !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  const isSampled = (Number.parseInt(flags, 16) & SAMPLED) === SAMPLED;
  const context = { traceId, spanId, isSampled };
  const hasState = typeof tracestate === "string" && tracestate.length <= STATE_MAX_CHARACTERS;
  return hasState ? { ...context, state: tracestate } : context;
}

/** The `traceparent` of a span. */
export function formatTraceParent({ traceId, spanId, isSampled }: TraceContext): string {
  return `00-${traceId}-${spanId}-${isSampled ? "01" : "00"}`;
}
