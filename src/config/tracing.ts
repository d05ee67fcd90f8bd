import type { TracingConfig } from "../telemetry/tracer.ts";
import type { ConfigReader } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/**
 * Reads the settings of tracing from OpenTelemetry's own variables (opentelemetry.io, SDK configuration). Undefined if
 * tracing is off.
 */
export function readTracing(read: ConfigReader<VariableName>): TracingConfig | undefined {
  const endpoint = read.secretUrl("OTEL_EXPORTER_OTLP_ENDPOINT", /^https?:\/\//, "an http(s) URL");
  const headers = read.secret("OTEL_EXPORTER_OTLP_HEADERS", HEADERS, "name=value,name=value");
  const sampler = read.oneOf("OTEL_TRACES_SAMPLER", [
    ...SAMPLERS,
    ...SAMPLERS.map((name) => `parentbased_${name}`),
  ]);
  const share = read.share("OTEL_TRACES_SAMPLER_ARG");
  if (endpoint === undefined) return undefined;
  return {
    endpoint,
    headers,
    serviceName: read.text("OTEL_SERVICE_NAME"),
    sampledShare: sampler.endsWith("always_on") ? 1 : sampler.endsWith("always_off") ? 0 : share,
    followsCaller: sampler.startsWith("parentbased_"),
  };
}

const SAMPLERS = ["always_on", "always_off", "traceidratio"];
const HEADERS = /^[\w.-]+ *=(?:%[0-9a-f]{2}|[^,%])*(?:, *[\w.-]+ *=(?:%[0-9a-f]{2}|[^,%])*)*$/i;
