import { type Timestamp, timestampMs } from "@bufbuild/protobuf/wkt";

/** Returns the times of all steps of a window, and the step at each time; undefined where the reply has none. */
export function fillSteps<Step extends TimedStep>(
  { startTime, endTime, stepSeconds }: StepWindow,
  steps: readonly Step[],
): FilledSteps<Step> {
  if (startTime === undefined || endTime === undefined || stepSeconds <= 0) return { times: [], steps: [] };
  const first = timestampMs(startTime) / 1_000;
  const count = Math.ceil((timestampMs(endTime) / 1_000 - first) / stepSeconds);
  const byIndex = new Map(
    steps.flatMap((step) =>
      step.startTime === undefined
        ? []
        : [[Math.round((timestampMs(step.startTime) / 1_000 - first) / stepSeconds), step] as const],
    ),
  );
  const indices = Array.from({ length: count }, (_, index) => index);
  return {
    times: indices.map((index) => first + index * stepSeconds),
    steps: indices.map((index) => byIndex.get(index)),
  };
}

interface TimedStep {
  readonly startTime?: Timestamp | undefined;
}

/** A window of steps of equal length. */
export interface StepWindow {
  readonly startTime?: Timestamp | undefined;
  readonly endTime?: Timestamp | undefined;
  readonly stepSeconds: number;
}

interface FilledSteps<Step> {
  /** The start times of the steps, in seconds since 1970. */
  readonly times: readonly number[];
  readonly steps: readonly (Step | undefined)[];
}
