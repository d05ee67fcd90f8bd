import type { TraceContext } from "./trace-context.ts";

/** The attributes of a span. They never contain values from a caller or secrets. */
export type SpanAttributes = Readonly<Record<string, string | number | boolean>>;

/** How a span begins. */
export interface SpanOptions {
  /** Default `internal`. */
  readonly kind?: "internal" | "server" | "client" | "consumer";
  readonly attributes?: SpanAttributes;
  /** The span that it is a part of. Default: the one that the caller runs in. */
  readonly parent?: TraceContext | undefined;
  /** Whether it begins a trace when it has no parent. Default: without a parent there is no span. */
  readonly isRoot?: boolean;
  /** Spans of other traces that it has to do with. */
  readonly links?: readonly TraceContext[];
}

/** A piece of work that is recorded. */
export interface Span {
  readonly context: TraceContext;
  set(attributes: SpanAttributes): void;
  rename(name: string): void;
  /** Marks it as failed, by the kind of failure; failures' texts stay in the log. */
  fail(kind: string): void;
  /** Runs work as a part of it: spans that begin there are its children. */
  run<T>(work: () => T): T;
  end(): void;
}

/** Where spans go. */
export interface Tracer {
  /** False if there are never spans, so that callers can skip preparations. */
  readonly isOn: boolean;
  /** Begins a span, or returns undefined when it is not recorded. */
  startSpan(name: string, options?: SpanOptions): Span | undefined;
  /** Sends the remaining spans, within a time limit. Never rejects. */
  close(): Promise<void>;
}

/** No traces. */
export const NO_TRACER: Tracer = {
  isOn: false,
  startSpan: () => undefined,
  close: () => Promise.resolve(),
};

/** Does the work within a span of its own, which ends with it and tells its failure. */
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

/** What kind of failure it is, without its text: a code such as an SQLSTATE, or the name of the error. */
export function failureKind(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.name;
}
