import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import sql, { type Sql } from "sql-template-tag";
import {
  type GetSignStatisticsResponse,
  GetSignStatisticsResponseSchema,
  type SignFiguresSchema,
  SignStageFigures_Stage,
} from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { SignRequest_Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { boolean, type Columns, nullable, number, oneOf, time } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import { SIGN_STATUSES, type SignStatus } from "../../signing/shown-sign-request.ts";
import type { TimeSteps } from "./time-steps.ts";

/** Measures the newest requests that were created in the window, at most `maxCount` of them. */
export async function readSignStatistics(
  db: Queryable,
  network: string,
  window: TimeSteps,
  maxCount: number = REQUESTS_MAX_COUNT,
): Promise<SignStatistics> {
  const rows = await readRows(db, measured(network, window, maxCount), ROW);
  const bySteps = new Map<number | null, { statuses: StatusCount[]; stages: StageTimes[] }>();
  let requestCount = 0;
  let oldestAt: Date | undefined;
  for (const { step, isStage, name, count, p50Seconds, p99Seconds, oldest } of rows) {
    const figures = bySteps.get(step) ?? { statuses: [], stages: [] };
    bySteps.set(step, figures);
    if (isStage)
      figures.stages.push({
        stage: name as MeasuredStage,
        count,
        p50Seconds: p50Seconds!,
        p99Seconds: p99Seconds!,
      });
    else figures.statuses.push({ status: name as SignStatus, count });
    if (step !== null || oldest === null) continue;
    requestCount += count;
    if (oldestAt === undefined || oldest < oldestAt) oldestAt = oldest;
  }
  const { statuses = [], stages = [] } = bySteps.get(null) ?? {};
  bySteps.delete(null);
  return {
    window,
    requestCount,
    coveredFrom: requestCount < maxCount ? undefined : oldestAt,
    total: { statuses, stages },
    steps: [...bySteps].map(([step, figures]) => ({ step: step!, ...figures })),
  };
}

interface SignStatistics {
  readonly window: TimeSteps;
  /** The number of measured requests. */
  readonly requestCount: number;
  /** The creation time of the oldest measured request, if older ones may have been left out. */
  readonly coveredFrom: Date | undefined;
  readonly total: SignMeasures;
  /** The steps with a request, in order. Steps count from 0. */
  readonly steps: readonly (SignMeasures & { readonly step: number })[];
}

interface SignMeasures {
  readonly statuses: readonly StatusCount[];
  readonly stages: readonly StageTimes[];
}

interface StatusCount {
  readonly status: SignStatus;
  readonly count: number;
}

/** The times of one stage of completed requests. */
interface StageTimes {
  readonly stage: MeasuredStage;
  readonly count: number;
  readonly p50Seconds: number;
  readonly p99Seconds: number;
}

/** A measured time of a request: in one state, or, for `signed`, from the user's half to the signature. */
type MeasuredStage = (typeof STAGES)[number];

const STAGES = ["prepared", "queued", "submitted", "signed"] as const;
const REQUESTS_MAX_COUNT = 10_000;

interface Row {
  /** Null for the whole window. */
  readonly step: number | null;
  readonly isStage: boolean;
  readonly name: SignStatus | MeasuredStage;
  readonly count: number;
  readonly p50Seconds: number | null;
  readonly p99Seconds: number | null;
  readonly oldest: Date | null;
}

const ROW: Columns<Row> = {
  step: nullable(number),
  isStage: boolean,
  name: oneOf(...SIGN_STATUSES, ...STAGES),
  count: number,
  p50Seconds: nullable(number),
  p99Seconds: nullable(number),
  oldest: nullable(time),
};

/** The limits in the lateral joins make the planner look up each request by index, whatever its estimates. */
const measured = (network: string, { start, end, stepSeconds }: TimeSteps, maxCount: number): Sql => sql`
WITH newest AS MATERIALIZED (
  SELECT id, status, created_at, updated_at,
    floor(extract(epoch FROM created_at - ${start}::timestamptz) / ${stepSeconds}::int)::int AS step
  FROM sign_request WHERE network = ${network} AND created_at >= ${start} AND created_at < ${end}
  ORDER BY created_at DESC LIMIT ${maxCount}
), timed AS (
  SELECT n.step, s.stage, extract(epoch FROM s.span)::float8 AS seconds
  FROM newest n
  CROSS JOIN LATERAL (
    SELECT created_at, tx_digest FROM chain_operation WHERE kind = 'sign' AND subject_id = n.id LIMIT 1
  ) o
  LEFT JOIN LATERAL (SELECT resolved_at FROM chain_transaction WHERE digest = o.tx_digest LIMIT 1) t ON true
  CROSS JOIN LATERAL (VALUES
    ('prepared', o.created_at - n.created_at), ('queued', t.resolved_at - o.created_at),
    ('submitted', n.updated_at - t.resolved_at), ('signed', n.updated_at - o.created_at)
  ) s (stage, span)
  WHERE n.status = 'completed' AND s.span IS NOT NULL
)
SELECT step, false AS "isStage", status AS name, count(*)::int AS count, NULL::float8 AS "p50Seconds",
  NULL::float8 AS "p99Seconds", min(created_at) AS oldest
FROM newest GROUP BY GROUPING SETS ((step, status), (status))
UNION ALL
SELECT step, true, stage, count(*)::int, percentile_disc(0.5) WITHIN GROUP (ORDER BY seconds),
  percentile_disc(0.99) WITHIN GROUP (ORDER BY seconds), NULL
FROM timed GROUP BY GROUPING SETS ((step, stage), (stage))
ORDER BY step, name`;

export function encodeSignStatistics(statistics: SignStatistics): GetSignStatisticsResponse {
  const { window, requestCount, coveredFrom, total, steps } = statistics;
  const { start, end, stepSeconds } = window;
  return create(GetSignStatisticsResponseSchema, {
    startTime: timestampFromDate(start),
    endTime: timestampFromDate(end),
    stepSeconds,
    requestCount,
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
