import type { TracerLog, Tracing, TracingConfig } from "./otlp/otlp-tracing.ts";
import { NO_TRACER } from "./tracer.ts";

/** Opens the tracer. Without a configuration it records nothing and does not load OpenTelemetry's SDK. */
export async function openTracing(config: TracingConfig | undefined, log: TracerLog): Promise<Tracing> {
  if (config === undefined) return { tracer: NO_TRACER, close: () => Promise.resolve() };
  return (await import("./otlp/otlp-tracing.ts")).openOtlpTracing(config, log);
}
