import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from "@opentelemetry/sdk-trace";
import type { TracingConfig } from "../open-tracer.ts";

/** Which traces are recorded: a share of them, or what the caller decided where callers are followed. */
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

/** A caller's word counts for nothing; what this service itself began is recorded whole. */
function byShare(root: Sampler) {
  return { remoteParentSampled: root, remoteParentNotSampled: root };
}
