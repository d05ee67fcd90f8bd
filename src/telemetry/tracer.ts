import type { TraceContext } from "./trace-context.ts";

/** The attributes of a span. They never contain values from a caller or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** Options of a span. */
export interface SpanOptions {
  /** Default `internal`. */
  readonly kind?: "internal" | "server" | "client" | "consumer";
  readonly attributes?: SpanAttributes;
  /** The parent span. Default: the span in which the caller runs. */
  readonly parent?: TraceContext | undefined;
  /** If true, a span without a parent begins a trace. Default: without a parent there is no span. */
  readonly isRoot?: boolean;
  /** Related spans of other traces. */
  readonly links?: readonly TraceContext[];
}

/** A recorded piece of work. */
export interface Span {
  readonly context: TraceContext;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** Marks the span as failed with the kind of failure. The text of the failure belongs in the log. */
  fail(kind: string): void;
  /** Runs work inside the span: spans that begin there are its children. */
  run<T>(work: () => T): T;
  end(): void;
}

/** Creates spans and sends them to a receiver. */
export interface Tracer {
  /** False if no span is ever recorded, so that callers can skip preparations. */
  readonly isOn: boolean;
  /** Begins a span, or returns undefined when it is not recorded. */
  startSpan(name: string, options?: SpanOptions): Span | undefined;
  /** Sends the remaining spans, within a time limit. Never rejects. */
  close(): Promise<void>;
}

/** A tracer that records nothing. */
export const NO_TRACER: Tracer = {
  isOn: false,
  startSpan: () => undefined,
  close: () => Promise.resolve(),
};

/** Runs work in a new span. The span ends with the work and records its failure. */
export async function inSpan<T>(
  tracer: Tracer,
  name: string,
  options: SpanOptions,
  work: (span: Span | undefined) => Promise<T>,
): Promise<T> {
  const span = tracer.startSpan(name, options);
  if (span === undefined) return work(undefined);
  try {
    return await span.run(() => work(span));
  } catch (error) {
    span.fail(failureKind(error));
    throw error;
  } finally {
    span.end();
  }
}

/** The kind of a failure without its text: a code such as an SQLSTATE, or the name of the error. */
export function failureKind(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
