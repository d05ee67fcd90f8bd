import type { Log } from "./log.ts";
import type { Secret } from "./secret.ts";
import { NO_TRACER, type Tracer } from "./tracer.ts";

/** Opens the tracer. Without a configuration it records nothing and does not load OpenTelemetry's SDK. */
export async function openTracing(config: TracingConfig | undefined, log: TracerLog): Promise<Tracing> {
  if (config === undefined) return { tracer: NO_TRACER, close: () => Promise.resolve() };
  return (await import("./otlp/otlp-tracing.ts")).openOtlpTracing(config, log);
}

/** The receiver of traces, and which traces it receives. */
export interface TracingConfig {
  /** Base URL of an OTLP/HTTP receiver; spans go to `<endpoint>/v1/traces`. */
  readonly endpoint: Secret;
  /** Headers for the receiver, as `name=value,name=value`, values percent-encoded. */
  readonly headers: Secret | undefined;
  readonly serviceName: string;
  /** The share of traces that are recorded, 0 to 1. */
  readonly sampledShare: number;
  /** If true, a caller's `traceparent` decides whether its calls are recorded. */
  readonly followsCaller: boolean;
}

/** The log of the tracer. */
export type TracerLog = Pick<Log, "info" | "warn">;

/** A process's tracer. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends the remaining spans, within a time limit. Never rejects. */
  close(): Promise<void>;
}
