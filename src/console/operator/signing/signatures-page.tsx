import type { JSX } from "preact";
import { useMemo } from "preact/hooks";
import {
  type GetSignStatisticsResponse,
  type SignStageFigures,
  SignStageFigures_Stage as Stage,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
import {
  SignRequest_StatusSchema,
  SignRequest_Status as Status,
} from "../../../../gen/client/tss/v1/signing_pb.ts";
import { isOneOf, useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { TimeChart } from "../../design/chart/time-chart.tsx";
import { Empty } from "../../design/empty.tsx";
import { SelectField } from "../../design/form/field.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { Time } from "../../design/value/time.tsx";
import { enumName, formatCount, formatDuration } from "../../format/text.ts";
import { countOf, SIGN_WINDOWS, signSeries, windowStart } from "./sign-series.ts";

/** Sign requests by state, and the duration of each stage. */
export function SignaturesPage(): JSX.Element {
  const { operations } = useSession();
  const [seconds, setSeconds] = useUrlFilter("window", "3600", isOneOf(SIGN_WINDOWS));
  const statistics = useCall(
    (signal) => operations.getSignStatistics({ startTime: windowStart(seconds, Date.now()) }, { signal }),
    [seconds],
    { everyMs: 10_000 },
  );
  return (
    <PageFrame
      title="Signatures"
      lead="The requests created in the window, by their current state."
      actions={
        <SelectField label="Window" options={SIGN_WINDOWS} value={seconds} isInline onSelect={setSeconds} />
      }
    >
      <Loaded call={statistics} lines={10}>
        {(reply) => <Figures reply={reply} />}
      </Loaded>
    </PageFrame>
  );
}

function Figures({ reply }: { readonly reply: GetSignStatisticsResponse }): JSX.Element {
  const { total, requestCount, coveredStartTime } = reply;
  const { times, span, counts, durations } = useMemo(() => signSeries(reply), [reply]);
  return (
    <>
      <section class="panel" aria-label="Requests by state">
        <Stats>
          {STATUSES.map((status) => (
            <Stat
              key={status}
              name={enumName(SignRequest_StatusSchema, status)}
              value={countOf(total, status).toLocaleString("en")}
            />
          ))}
        </Stats>
        {coveredStartTime !== undefined && (
          <p class="notice">
            The figures are those of the newest {requestCount.toLocaleString("en")} requests, since{" "}
            <Time of={coveredStartTime} />.
          </p>
        )}
      </section>
      <Panel title="Stages of completed requests">
        <DataTable
          caption="Stages of completed requests"
          columns={STAGE_COLUMNS}
          rows={[...(total?.stages ?? [])].sort((a, b) => a.stage - b.stage)}
          rowKey={({ stage }) => `${stage}`}
          empty={<Empty title="No completed requests">None was completed in this window.</Empty>}
        />
      </Panel>
      <section class="panel" aria-label="Over time">
        <div class="charts">
          <TimeChart
            title="Requests"
            times={times}
            span={span}
            series={counts}
            shape="bars"
            format={formatCount}
          />
          <TimeChart
            title="From the user's half to the signature"
            times={times}
            span={span}
            series={durations}
            format={formatSeconds}
          />
        </div>
      </section>
    </>
  );
}

const formatSeconds = (seconds: number): string => formatDuration(seconds * 1_000);

const STATUSES = [Status.prepared, Status.queued, Status.submitted, Status.completed, Status.failed];

const STAGE_COLUMNS: readonly DataColumn<SignStageFigures>[] = [
  {
    title: "Stage",
    cell: ({ stage }) => {
      const [name, note] = STAGES[stage] ?? [`${stage}`, ""];
      return (
        <>
          {name} <span class="muted">{note}</span>
        </>
      );
    },
  },
  { title: "Requests", isNumber: true, cell: ({ count }) => count.toLocaleString("en") },
  { title: "p50", isNumber: true, cell: ({ p50Seconds }) => formatSeconds(p50Seconds) },
  { title: "p99", isNumber: true, cell: ({ p99Seconds }) => formatSeconds(p99Seconds) },
];

const STAGES: Readonly<Partial<Record<Stage, readonly [string, string]>>> = {
  [Stage.prepared]: ["prepared", "the client: from the reservation to the user's half"],
  [Stage.queued]: ["queued", "the service: to the final transaction"],
  [Stage.submitted]: ["submitted", "the network: to the verified signature"],
  [Stage.signed]: ["signed", "from the user's half to the verified signature"],
};
