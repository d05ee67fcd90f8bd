import type { JSX } from "preact";
import {
  type GetReadinessResponse,
  type GetSignStatisticsResponse,
  type GetTreasuryHistoryResponse,
  GetReadinessResponse_Status as Status,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
import { SignRequest_Status as SignStatus } from "../../../../gen/client/tss/v1/signing_pb.ts";
import { useOnNetwork, useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Concerns, Headline } from "../../design/concerns.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Age } from "../../design/value/time.tsx";
import { formatCount, formatDays } from "../../format/text.ts";
import { countOf, windowStart } from "../signing/sign-series.ts";
import { ActivityCharts } from "./activity-charts.tsx";
import { concernsOf } from "./concerns.ts";
import { ReservesPanel } from "./reserves-panel.tsx";

/** The state of the service at a glance: one sentence, what needs the operator, and charts. */
export function OverviewPage(): JSX.Element {
  return (
    <PageFrame title="Overview">
      <StatePanel />
      <ActivityCharts />
      <ReservesPanel />
    </PageFrame>
  );
}

/** The state of the service in a sentence, and what needs the operator. */
function StatePanel(): JSX.Element {
  const { admin, operations, everyNetwork, networks } = useSession();
  const onNetwork = useOnNetwork();
  const state = useCall(
    async (signal) => {
      const [readiness, lanes, outbox, { buckets }, reserves, money, day] = await Promise.all([
        everyNetwork.operations.getReadiness({}, { signal }),
        operations.getLanes({}, { signal }),
        operations.getOutbox({}, { signal }),
        admin.getPresignHealth({}, { signal }),
        operations.getTreasuryHistory({}, { signal }),
        operations.getMoney({}, { signal }),
        operations.getSignStatistics({ startTime: windowStart("86400", Date.now()) }, { signal }),
      ]);
      return { readiness, lanes, outbox, buckets, reserves, money, day };
    },
    [],
    { everyMs: 10_000 },
  );
  return (
    <Panel title={`State${onNetwork}`}>
      <Loaded call={state} lines={3}>
        {(data) => (
          <>
            <Headline
              concerns={concernsOf(data)}
              figures={figuresOf(data.day, data.reserves)}
              stop={data.readiness.status === Status.unavailable ? STOPPED : undefined}
            />
            <Concerns of={concernsOf(data)} />
            <Checks of={data.readiness} ofAll={networks.length > 1} />
            <p class="note">
              <Build of={data.readiness} />
            </p>
          </>
        )}
      </Loaded>
    </Panel>
  );
}

const STOPPED = "The service is unavailable: a vital check fails.";

/** Returns the figures in a sentence: `1,204 signatures in the last day, 99.9 % completed, IKA for 41 days.` */
function figuresOf({ total }: GetSignStatisticsResponse, { ika }: GetTreasuryHistoryResponse): string {
  const completed = countOf(total, SignStatus.completed);
  const ended = completed + countOf(total, SignStatus.failed);
  const parts = [
    ended === 0
      ? "No signature in the last day"
      : `${formatCount(ended)} ${ended === 1 ? "signature" : "signatures"} in the last day`,
    ...(ended === 0 ? [] : [`${percentOf(completed, ended)} completed`]),
    ...(ika?.daysLeft === undefined ? [] : [`IKA for ${formatDays(ika.daysLeft)}`]),
  ];
  return `${parts.join(", ")}.`;
}

/** Rounds down, so that 100 % means all. */
function percentOf(part: number, whole: number): string {
  return `${(Math.floor((part / whole) * 1_000) / 10).toString()} %`;
}

function Checks({ of: { status, checks }, ofAll }: ChecksProps): JSX.Element {
  const words = ofAll ? "Checks of all networks" : "Checks";
  return (
    <details class="checks-all" open={status !== Status.ready}>
      <summary>
        {words}: {stateText(status)}
      </summary>
      <ul class="checks" aria-label={words}>
        {checks.map(({ name, ok, vital }) => (
          <li key={name}>
            <Badge tone={ok ? "good" : vital ? "bad" : "warn"}>{`${name}${ok ? "" : " fails"}`}</Badge>
          </li>
        ))}
      </ul>
    </details>
  );
}

interface ChecksProps {
  readonly of: GetReadinessResponse;
  /** True if they cover several networks. */
  readonly ofAll: boolean;
}

function stateText(status: Status): string {
  switch (status) {
    case Status.ready:
      return "every check passes";
    case Status.degraded:
      return "the replica serves calls, but a check fails";
    default:
      return "a vital check fails";
  }
}

function Build({ of: { version, commit, processType, startTime, readTime } }: BuildProps): JSX.Element {
  return (
    <>
      Version {version}
      {commit !== "" && ` (${commit.slice(0, 12)})`}, process type {processType}, started{" "}
      <Age of={startTime} at={readTime} />. Of the replica that answers.
    </>
  );
}

interface BuildProps {
  readonly of: GetReadinessResponse;
}
