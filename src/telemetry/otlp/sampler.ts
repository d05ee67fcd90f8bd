import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { TracingConfig } from "../open-tracer.ts";

/** Selects the traces to record: a share of them, or the caller's choice if the configuration follows callers. */
export function createSampler({
  sampledShare,
  followsCaller,
}: Pick<TracingConfig, "sampledShare" | "followsCaller">): Sampler {
  const root =
    sampledShare >= 1
      ? new AlwaysOnSampler()
      : sampledShare <= 0
        ? new AlwaysOffSampler()
        : new TraceIdRatioBasedSampler(sampledShare);
  return followsCaller
    ? new ParentBasedSampler({ root })
    : new ParentBasedSampler({ root, ...byShare(root) });
}

/** Ignores the caller's choice. Records traces that began in this service completely. */
function byShare(root: Sampler) {
  return { remoteParentSampled: root, remoteParentNotSampled: root };
}
