import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import {
  createTraceState,
  type Link,
  type Context as OtelContext,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import { BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { TracerLog, TracingConfig } from "../open-tracer.ts";
import type { TraceContext } from "../trace-context.ts";
import type { Span, Tracer } from "../tracer.ts";
import { createSampler } from "./sampler.ts";
import { tellingExporter } from "./telling-exporter.ts";

/** The most spans that wait for the receiver. More are dropped, so that a receiver that hangs costs bounded memory. */
const QUEUE_MAX_COUNT = 2_048;
const SEND_INTERVAL_MS = 1_000;
const SEND_TIMEOUT_MS = 10_000;
/** The time that the process waits for the receiver before it exits. */
const FLUSH_TIMEOUT_MS = 3_000;

const KINDS = {
  internal: SpanKind.INTERNAL,
  server: SpanKind.SERVER,
  client: SpanKind.CLIENT,
  consumer: SpanKind.CONSUMER,
} as const;

/** Records spans with OpenTelemetry and sends them over OTLP/HTTP in batches. No call waits for it. */
export function createOtlpTracer(config: TracingConfig, log: TracerLog): Tracer {
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
  const tracer = provider.getTracer("threshold-signing-service");
  const current = new AsyncLocalStorage<OtelContext>();
  let closed: Promise<void> | undefined;
  return {
    isOn: true,
    startSpan(name, { kind = "internal", attributes = {}, parent, isRoot = false, links = [] } = {}) {
      const context = parent === undefined ? current.getStore() : contextOf(parent);
      if (context === undefined && !isRoot) return undefined;
      const options = { kind: KINDS[kind], attributes, links: links.map(toLink) };
      const span = tracer.startSpan(name, options, context ?? ROOT_CONTEXT);
      return span.isRecording() ? toSpan(span, trace.setSpan(context ?? ROOT_CONTEXT, span)) : undefined;
    },
    close() {
      closed ??= within(FLUSH_TIMEOUT_MS, provider.shutdown());
      return closed;
    },
  };

  function toSpan(span: OtelSpan, context: OtelContext): Span {
    const { traceId, spanId } = span.spanContext();
    return {
      context: { traceId, spanId, isSampled: true },
      set: (attributes) => void span.setAttributes(attributes),
      rename: (name) => void span.updateName(name),
      fail: (kind) =>
        void span.setAttribute("error.type", kind).setStatus({ code: SpanStatusCode.ERROR, message: kind }),
      run: (work) => current.run(context, work),
      end: () => span.end(),
    };
  }
}

function contextOf(parent: TraceContext): OtelContext {
  return trace.setSpanContext(ROOT_CONTEXT, toSpanContext(parent));
}

function toLink(context: TraceContext): Link {
  return { context: toSpanContext(context) };
}

function toSpanContext({ traceId, spanId, isSampled, state }: TraceContext): SpanContext {
  return {
    traceId,
    spanId,
    traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE,
    isRemote: true,
    ...(state === undefined ? {} : { traceState: createTraceState(state) }),
  };
}

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
    // Passes on escapes of another encoding unchanged.
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
