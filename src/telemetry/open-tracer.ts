import type { Log } from "./log.ts";
import type { Secret } from "./secret.ts";
import { NO_TRACER, type Tracer } from "./tracer.ts";

/** Where traces go, and which. */
export interface TracingConfig {
  /** Base URL of an OTLP/HTTP receiver; spans go to `<endpoint>/v1/traces`. */
  readonly endpoint: Secret;
  /** Headers for the receiver, as `name=value,name=value`, values percent-encoded. */
  readonly headers: Secret | undefined;
  readonly serviceName: string;
  /** The share of traces that are recorded, 0 to 1. */
  readonly sampledShare: number;
  /** Whether a caller's `traceparent` decides for its calls. */
  readonly followsCaller: boolean;
}

/** Where the tracer tells how it goes. */
export type TracerLog = Pick<Log, "info" | "warn">;

/** The tracer; without a configuration there is none, and nothing of OpenTelemetry is loaded. */
export async function openTracer(config: TracingConfig | undefined, log: TracerLog): Promise<Tracer> {
  if (config === undefined) return NO_TRACER;
  return (await import("./otlp/otlp-tracer.ts")).createOtlpTracer(config, log);
}
