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
