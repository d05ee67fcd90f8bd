import { type Timestamp, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type GetSignStatisticsResponse,
  type SignFigures,
  type SignStageFigures,
  SignStageFigures_Stage as Stage,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
import { SignRequest_Status as Status } from "../../../../gen/client/tss/v1/signing_pb.ts";
import type { ChartSeries } from "../../design/chart/time-chart.tsx";
import { fillSteps } from "../../format/fill-steps.ts";

/** Returns the figures of a window as lines of a chart. A step without a request has the count 0 and no duration. */
export function signSeries(reply: SignStatistics): SignSeries {
  const { times, steps } = fillSteps(reply, reply.steps);
  const figures = steps.map((step) => step?.figures);
  const signed = figures.map((each) => each?.stages.find(({ stage }) => stage === Stage.signed));
  const secondsOf = (read: (stage: SignStageFigures) => number) =>
    signed.map((stage) => (stage === undefined ? null : read(stage)));
  return {
    times,
    span: [times[0] ?? 0, (times.at(-1) ?? 0) + reply.stepSeconds],
    counts: [
      { name: "Completed", values: figures.map((each) => countOf(each, Status.completed)) },
      { name: "Failed", values: figures.map((each) => countOf(each, Status.failed)) },
    ],
    durations: [
      { name: "p50", values: secondsOf(({ p50Seconds }) => p50Seconds) },
      { name: "p99", values: secondsOf(({ p99Seconds }) => p99Seconds) },
    ],
  };
}

/** Returns the number of requests in a state. */
export function countOf(figures: Pick<SignFigures, "counts"> | undefined, status: Status): number {
  return figures?.counts.find((each) => each.status === status)?.count ?? 0;
}

type SignStatistics = Pick<GetSignStatisticsResponse, "startTime" | "endTime" | "stepSeconds" | "steps">;

interface SignSeries {
  /** The start times of the steps, in seconds since 1970. */
  readonly times: readonly number[];
  /** The start and end of all steps, so that charts beside each other have one time axis. */
  readonly span: readonly [number, number];
  readonly counts: readonly ChartSeries[];
  /** In seconds. */
  readonly durations: readonly ChartSeries[];
}

/** The choices for the window of figures: seconds, and the label. */
export const SIGN_WINDOWS: readonly (readonly [string, string])[] = [
  ["3600", "the last hour"],
  ["86400", "the last day"],
  ["604800", "the last week"],
  ["2592000", "the last 30 days"],
];

/** Returns the start of a window that ends now. */
export function windowStart(seconds: string, nowMs: number): Timestamp {
  return timestampFromMs(nowMs - Number(seconds) * 1_000);
}
