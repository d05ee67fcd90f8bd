import { randomUUID } from "node:crypto";
import { type Context, context, SpanKind } from "@opentelemetry/api";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-http";
import { defaultResource, resourceFromAttributes } from "@opentelemetry/resources";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TraceIdRatioBasedSampler,
  TracerProvider,
} from "@opentelemetry/sdk-trace";
import type { Log } from "../logger.ts";
import type { Secret } from "../secret.ts";
import type { Tracer } from "../tracer.ts";

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
export type TracerLog = Log;

/** A process's tracer. */
export interface Tracing {
  readonly tracer: Tracer;
  /** Sends the remaining spans, within a time limit. Never rejects. */
  close(): Promise<void>;
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

/**
 * Selects the traces to record: a share of them, or those that callers record if `followsCaller` is set. Only calls
 * start traces; background work is recorded only as part of a call's trace.
 */
export function createSampler({
  sampledShare,
  followsCaller,
}: Pick<TracingConfig, "sampledShare" | "followsCaller">): Sampler {
  const share =
    sampledShare >= 1
      ? new AlwaysOnSampler()
      : sampledShare <= 0
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(sampledShare);
  const root = callsOnly(share);
  // Without `followsCaller`, the choice of the caller is ignored. Traces that start here are still recorded completely.
  const remote = followsCaller ? {} : { remoteParentSampled: share, remoteParentNotSampled: share };
  return new ParentBasedSampler({ root, ...remote });
}

function callsOnly(share: Sampler): Sampler {
  return {
    shouldSample: (context: Context, traceId, name, kind, attributes, links) =>
      kind === SpanKind.SERVER
        ? share.shouldSample(context, traceId, name, kind, attributes, links)
        : { decision: SamplingDecision.NOT_RECORD },
    toString: () => `CallsOnly{${share.toString()}}`,
  };
}

/** Wraps an exporter and logs when the receiver begins to fail and when it recovers. Calls are not affected. */
export function tellingExporter(exporter: SpanExporter, log: TracerLog): SpanExporter {
  let isFailing = false;
  return {
    export(spans, done) {
      exporter.export(spans, (result) => {
        const failed = result.code !== SUCCESS;
        if (failed && !isFailing)
          log.warn({ cause: result.error }, "the trace receiver is unreachable; dropping spans");
        if (!failed && isFailing) log.info({}, "the trace receiver is reachable again");
        isFailing = failed;
        done(result);
      });
    },
    forceFlush: async () => exporter.forceFlush?.(),
    shutdown: () => exporter.shutdown(),
  };
}

/** `ExportResultCode.SUCCESS` of @opentelemetry/core. */
const SUCCESS = 0;
