import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { type GetUsageResponse, GetUsageResponseSchema } from "../../gen/proto/tss/v1/billing_pb.ts";
import type { UsageSteps, UsageWindow } from "./read-usage.ts";

/** Encodes the usage of a window. */
export function encodeUsage({ start, end }: UsageWindow, { steps, total }: UsageSteps): GetUsageResponse {
  return create(GetUsageResponseSchema, {
    startTime: timestampFromDate(start),
    endTime: timestampFromDate(end),
    steps: steps.map((step) => ({ startTime: timestampFromDate(step.start), usage: step.usage })),
    total,
  });
}
