import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import type {
  GetPresignHistoryResponse,
  PresignBucketHistory,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
import { isOneOf, useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { TimeChart } from "../../design/chart/time-chart.tsx";
import { Empty } from "../../design/empty.tsx";
import { SelectField } from "../../design/form/field.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { fillSteps } from "../../format/fill-steps.ts";
import { formatCount } from "../../format/text.ts";
import { windowStart } from "./sign-series.ts";

/** The levels of the pool over time, with the minutes in which a bucket was out of stock. */
export function PresignHistoryPanel(): JSX.Element {
  const { operations } = useSession();
  const [seconds, setSeconds] = useUrlFilter("window", "86400", isOneOf(WINDOWS));
  const history = useCall(
    (signal) => operations.getPresignHistory({ startTime: windowStart(seconds, Date.now()) }, { signal }),
    [seconds],
    { everyMs: 60_000 },
  );
  return (
    <Panel
      title="Pool over time"
      note="A worker records the levels every minute. A minute without a ready presign is a stock-out."
      actions={
        <SelectField label="Window" options={WINDOWS} value={seconds} isInline onSelect={setSeconds} />
      }
    >
      <Loaded call={history} lines={8}>
        {(reply) => (
          <>
            <DataTable
              caption="Stock-outs"
              columns={COLUMNS}
              rows={reply.buckets}
              rowKey={keyOf}
              empty={<Empty title="No levels yet">The first levels are recorded within a minute.</Empty>}
            />
            <div class="charts">
              {reply.buckets.map((bucket) => (
                <BucketChart key={keyOf(bucket)} bucket={bucket} reply={reply} />
              ))}
            </div>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function BucketChart({ bucket, reply }: BucketChartProps): JSX.Element {
  const { times, series } = useMemo(() => {
    const filled = fillSteps(reply, bucket.steps);
    return {
      times: filled.times,
      series: [
        { name: "Ready", values: filled.steps.map((step) => step?.readyLast ?? null) },
        { name: "Fewest ready", values: filled.steps.map((step) => step?.readyMin ?? null) },
        { name: "Pending", values: filled.steps.map((step) => step?.pendingLast ?? null) },
      ],
    };
  }, [bucket, reply]);
  return (
    <TimeChart title={bucket.signatureAlgorithmName} times={times} series={series} format={formatCount} />
  );
}

interface BucketChartProps {
  readonly bucket: PresignBucketHistory;
  readonly reply: GetPresignHistoryResponse;
}

const WINDOWS: readonly (readonly [string, string])[] = [
  ["3600", "the last hour"],
  ["86400", "the last day"],
  ["604800", "the last week"],
  ["1209600", "the last 14 days"],
];

const keyOf = ({ networkEncryptionKeyId, curveName, signatureAlgorithmName }: PresignBucketHistory): string =>
  [networkEncryptionKeyId, curveName, signatureAlgorithmName].join(":");

const sumOf = (
  { steps }: PresignBucketHistory,
  read: (step: PresignBucketHistory["steps"][number]) => number,
) => steps.reduce((sum, step) => sum + read(step), 0);

const COLUMNS: readonly DataColumn<PresignBucketHistory>[] = [
  {
    title: "Bucket",
    cell: ({ curveName, signatureAlgorithmName }) => (
      <>
        {signatureAlgorithmName} <span class="muted">{curveName}</span>
      </>
    ),
  },
  {
    title: "Stock-outs",
    cell: (bucket) => {
      const count = sumOf(bucket, ({ emptySampleCount }) => emptySampleCount);
      return count === 0 ? (
        <span class="muted">none</span>
      ) : (
        <Badge tone="warn">{`${formatCount(count)} of ${formatCount(sumOf(bucket, ({ sampleCount }) => sampleCount))} minutes`}</Badge>
      );
    },
  },
  {
    title: "Made",
    isNumber: true,
    cell: (bucket) => formatCount(sumOf(bucket, ({ madeCount }) => Number(madeCount))),
  },
  {
    title: "Taken",
    isNumber: true,
    cell: (bucket) => formatCount(sumOf(bucket, ({ takenCount }) => Number(takenCount))),
  },
];
