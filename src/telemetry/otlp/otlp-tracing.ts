import { randomUUID } from "node:crypto";
import { context } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { TracerLog, Tracing, TracingConfig } from "../open-tracing.ts";
import { createSampler } from "./sampler.ts";
import { tellingExporter } from "./telling-exporter.ts";

/** Records spans with OpenTelemetry and sends them over OTLP/HTTP in batches. No call waits for it. */
export function openOtlpTracing(config: TracingConfig, log: TracerLog): Tracing {
  const exporter = new OTLPTraceExporter({
    url: `${config.endpoint.reveal().replace(/\/+$/, "")}/v1/traces`,
    headers: headersOf(config),
    timeoutMillis: SEND_TIMEOUT_MS,
  });
  const processor = new BatchSpanProcessor({
    exporter: tellingExporter(exporter, log),
    maxQueueSize: QUEUE_MAX_COUNT,
    scheduledDelayMillis: SEND_INTERVAL_MS,
    exportTimeoutMillis: SEND_TIMEOUT_MS,
  });
  const provider = new TracerProvider({
    resource: defaultResource().merge(
      resourceFromAttributes({
        "service.name": config.serviceName,
        "service.instance.id": randomUUID(),
      }),
    ),
    sampler: createSampler(config),
    spanProcessors: [processor],
  });
  // Makes the current span follow asynchronous work. The process has one manager, which stays after a close.
  context.setGlobalContextManager(new AsyncLocalStorageContextManager());
  let closed: Promise<void> | undefined;
  return {
    tracer: provider.getTracer("threshold-signing-service"),
    close() {
      closed ??= within(FLUSH_TIMEOUT_MS, provider.shutdown());
      return closed;
    },
  };
}

/** The limit of the queue. Further spans are dropped, so that a receiver that hangs costs bounded memory. */
const QUEUE_MAX_COUNT = 2_048;
const SEND_INTERVAL_MS = 1_000;
const SEND_TIMEOUT_MS = 10_000;
/** The time that the process waits for the receiver before it exits. */
const FLUSH_TIMEOUT_MS = 3_000;

function headersOf({ headers }: TracingConfig): Record<string, string> {
  const pairs = (headers?.reveal() ?? "").split(",").filter((pair) => pair.includes("="));
  return Object.fromEntries(
    pairs.map((pair) => {
      const [name = "", ...value] = pair.split("=");
      return [name.trim(), decoded(value.join("=").trim())];
    }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // Keeps escapes of another encoding unchanged.
    return text;
  }
}

/** Resolves when the work succeeds, fails or times out. */
async function within(timeoutMs: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, timeoutMs);
  });
  await Promise.race([work.catch(() => {}), late]);
  clearTimeout(timer);
}
