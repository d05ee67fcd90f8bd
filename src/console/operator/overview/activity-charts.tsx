import { timestampMs } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type { PresignBucket } from "../../../../gen/client/tss/v1/admin_pb.ts";
import type {
  GetPresignHistoryResponse,
  GetSignStatisticsResponse,
  GetTreasuryHistoryResponse,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
import { isOneOf, useUrlFilter } from "../../address/use-url-filter.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { TimeChart } from "../../design/chart/time-chart.tsx";
import { SelectField } from "../../design/form/field.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { Panel } from "../../design/panel.tsx";
import { fillSteps } from "../../format/fill-steps.ts";
import { formatCount, formatDuration } from "../../format/text.ts";
import { SIGN_WINDOWS, signSeries, windowStart } from "../signing/sign-series.ts";

/** Signatures, their duration, the presign pool and the Treasury's IKA over one window. */
export function ActivityCharts(): JSX.Element {
  const { admin, operations } = useSession();
  const onNetwork = useOnNetwork();
  const [seconds, setSeconds] = useUrlFilter("window", "3600", isOneOf(WINDOWS));
  const activity = useCall(
    async (signal) => {
      const window = { startTime: windowStart(seconds, Date.now()) };
      const [signs, presigns, { buckets }, reserves] = await Promise.all([
        operations.getSignStatistics(window, { signal }),
        operations.getPresignHistory(window, { signal }),
        admin.getPresignHealth({}, { signal }),
        operations.getTreasuryHistory(window, { signal }),
      ]);
      return { signs, presigns, buckets, reserves };
    },
    [seconds],
    { everyMs: 15_000 },
  );
  return (
    <Panel
      title={`Activity${onNetwork}`}
      actions={
        <SelectField label="Window" options={WINDOWS} value={seconds} isInline onSelect={setSeconds} />
      }
    >
      <Loaded call={activity} lines={16}>
        {({ signs, presigns, buckets, reserves }) => {
          const span = spanOf(signs, presigns, reserves);
          return (
            <div class="charts">
              <SignCharts reply={signs} span={span} />
              <PresignChart reply={presigns} buckets={buckets} span={span} />
              <ReserveChart reply={reserves} span={span} />
            </div>
          );
        }}
      </Loaded>
    </Panel>
  );
}

const WINDOWS = SIGN_WINDOWS.slice(0, 3);

/**
 * Returns the time axis of all charts: the window, but not what lies before the service's first records, and at least
 * five minutes.
 */
function spanOf(
  { startTime, endTime, steps }: GetSignStatisticsResponse,
  presigns: GetPresignHistoryResponse,
  reserves: GetTreasuryHistoryResponse,
): Span | undefined {
  if (startTime === undefined || endTime === undefined) return undefined;
  const records = [
    ...[steps, ...presigns.buckets.map((bucket) => bucket.steps)].flatMap((each) => each[0]?.startTime ?? []),
    ...(reserves.steps[0]?.time === undefined ? [] : [reserves.steps[0].time]),
  ].map((time) => timestampMs(time) / 1_000);
  const [start, end] = [timestampMs(startTime) / 1_000, timestampMs(endTime) / 1_000];
  return [Math.max(start, Math.min(...records, end - SPAN_MIN_SECONDS)), end];
}

type Span = readonly [number, number];

const SPAN_MIN_SECONDS = 300;

function SignCharts({ reply, span }: SignChartsProps): JSX.Element {
  const { times, counts, durations } = useMemo(() => signSeries(reply), [reply]);
  return (
    <>
      <TimeChart
        title="Signatures"
        times={times}
        span={span}
        series={counts}
        shape="bars"
        format={formatCount}
      />
      <TimeChart title="Time to sign" times={times} span={span} series={durations} format={formatSeconds} />
    </>
  );
}

interface SignChartsProps {
  readonly reply: GetSignStatisticsResponse;
  readonly span: Span | undefined;
}

const formatSeconds = (seconds: number): string => formatDuration(seconds * 1_000);

/** The ready presigns of all buckets together, beside the sum of their low waters as it is now. */
function PresignChart({ reply, buckets, span }: PresignChartProps): JSX.Element {
  const { times, series } = useMemo(() => {
    const filled = reply.buckets.map((bucket) => fillSteps(reply, bucket.steps));
    const stepTimes = filled[0]?.times ?? [];
    const sum = (read: (level: PresignLevel) => number) =>
      stepTimes.map((_, at) => {
        const levels = filled.flatMap(({ steps }) => steps[at] ?? []);
        return levels.length === 0 ? null : levels.reduce((total, level) => total + read(level), 0);
      });
    const lowWater = buckets.reduce((total, bucket) => total + bucket.lowWater, 0);
    const ready = sum(({ readyLast }) => readyLast);
    return {
      times: stepTimes,
      series: [
        { name: "Ready", values: ready },
        { name: "Low water", values: ready.map((level) => (level === null ? null : lowWater)) },
        { name: "On the way", values: sum(({ pendingLast }) => pendingLast) },
      ],
    };
  }, [reply, buckets]);
  return <TimeChart title="Presigns" times={times} span={span} series={series} format={formatCount} />;
}

type PresignLevel = GetPresignHistoryResponse["buckets"][number]["steps"][number];

interface PresignChartProps {
  readonly reply: GetPresignHistoryResponse;
  readonly buckets: readonly PresignBucket[];
  readonly span: Span | undefined;
}

function ReserveChart({ reply, span }: ReserveChartProps): JSX.Element {
  const { times, series } = useMemo(() => {
    const steps = reply.steps.filter(({ time }) => time !== undefined);
    return {
      times: steps.map(({ time }) => timestampMs(time!) / 1_000),
      series: [{ name: "IKA", values: steps.map(({ ikaBalance }) => Number(ikaBalance) / 1e9) }],
    };
  }, [reply]);
  return (
    <TimeChart
      title="IKA of the Treasury"
      times={times}
      span={span}
      series={series}
      isFitted
      format={formatIka}
    />
  );
}

interface ReserveChartProps {
  readonly reply: GetTreasuryHistoryResponse;
  readonly span: Span | undefined;
}

const formatIka = (amount: number): string => amount.toLocaleString("en", { maximumFractionDigits: 2 });
