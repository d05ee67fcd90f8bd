import { type Context, SpanKind } from "@opentelemetry/api";
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  SamplingDecision,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { TracingConfig } from "../open-tracing.ts";

/**
 * Selects the traces to record: a share of them, or the caller's choice if the configuration follows callers. Only calls
 * begin traces; background work is recorded only as part of a call's trace.
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
  // Whoever does not follow callers ignores their choice, and still records its own traces completely.
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
