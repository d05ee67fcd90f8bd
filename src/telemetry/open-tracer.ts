import type { Log } from "./log.ts";
import type { Secret } from "./secret.ts";
import { NO_TRACER, type Tracer } from "./tracer.ts";

/** The receiver of traces, and the selection of traces. */
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

/** The tracer's log. */
export type TracerLog = Pick<Log, "info" | "warn">;

/** Opens the tracer. Without a configuration it records nothing and does not load OpenTelemetry. */
export async function openTracer(config: TracingConfig | undefined, log: TracerLog): Promise<Tracer> {
  if (config === undefined) return NO_TRACER;
  return (await import("./otlp/otlp-tracer.ts")).createOtlpTracer(config, log);
}
