import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type GetSignStatisticsResponse,
  GetSignStatisticsResponseSchema,
  type SignFiguresSchema,
  SignStageFigures_Stage,
} from "../../gen/proto/tss/v1/operations_pb.ts";
import { SignRequest_Status } from "../../gen/proto/tss/v1/signing_pb.ts";
import type { SignMeasures, SignStatistics } from "./read-sign-statistics.ts";

export function encodeSignStatistics(statistics: SignStatistics): GetSignStatisticsResponse {
  const { window, requestCount, coveredFrom, total, steps } = statistics;
  const { start, end, stepSeconds } = window;
  return create(GetSignStatisticsResponseSchema, {
    startTime: timestampFromDate(start),
    endTime: timestampFromDate(end),
    ...{ stepSeconds, requestCount },
    ...(coveredFrom && { coveredStartTime: timestampFromDate(coveredFrom) }),
    total: encodeFigures(total),
    steps: steps.map(({ step, ...figures }) => ({
      startTime: timestampFromMs(start.getTime() + step * stepSeconds * 1000),
      figures: encodeFigures(figures),
    })),
  });
}

function encodeFigures({ statuses, stages }: SignMeasures): MessageInitShape<typeof SignFiguresSchema> {
  return {
    counts: statuses.map(({ status, count }) => ({ status: SignRequest_Status[status], count })),
    stages: stages.map(({ stage, ...times }) => ({ stage: SignStageFigures_Stage[stage], ...times })),
  };
}
