import type { JSX } from "preact";
import {
  type GetReadinessResponse,
  type ReadinessCheck,
  GetReadinessResponse_Status as Status,
} from "../../../gen/client/tss/v1/operations_pb.ts";
import { useOnNetwork, useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { formatCount, formatMoney } from "../format/text.ts";
import { Badge } from "../ui/badge.tsx";
import { type DataColumn, DataTable } from "../ui/data-table.tsx";
import { Stat, Stats } from "../ui/facts.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Panel } from "../ui/panel.tsx";
import { Age } from "../ui/time.tsx";
import { ActivityPanel } from "./activity-panel.tsx";
import { BurnStat } from "./burn-panel.tsx";

/** The state of the service at a glance. */
export function OverviewPage(): JSX.Element {
  return (
    <PageFrame title="Overview">
      <ReadinessPanel />
      <ActivityPanel />
      <ReservesPanel />
    </PageFrame>
  );
}

/** The readiness of the replica that answers, with the reason of each failing check. */
export function ReadinessPanel(): JSX.Element {
  const { everyNetwork, networks } = useSession();
  const readiness = useCall((signal) => everyNetwork.operations.getReadiness({}, { signal }), [], {
    everyMs: 10_000,
  });
  return (
    <Panel
      title={networks.length > 1 ? "Health of all networks" : "Health"}
      note={readiness.data && <Build of={readiness.data} />}
    >
      <Loaded call={readiness}>
        {({ status, checks }) => (
          <>
            <p role="status">{stateOf(status)}</p>
            <ul class="checks" aria-label="Checks">
              {checks.map(({ name, ok, vital }) => (
                <li key={name}>
                  <Badge tone={ok ? "good" : vital ? "bad" : "warn"}>{`${name}${ok ? "" : " fails"}`}</Badge>
                </li>
              ))}
            </ul>
            <DataTable
              caption="Failing checks"
              columns={COLUMNS}
              rows={checks.filter(({ ok }) => !ok)}
              rowKey={({ name }) => name}
              empty={undefined}
            />
          </>
        )}
      </Loaded>
    </Panel>
  );
}

function stateOf(status: Status): JSX.Element {
  switch (status) {
    case Status.ready:
      return <Badge tone="good">ready: every check passes</Badge>;
    case Status.degraded:
      return <Badge tone="warn">degraded: serves calls, but a check fails</Badge>;
    default:
      return <Badge tone="bad">unavailable: a vital check fails</Badge>;
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

const COLUMNS: readonly DataColumn<ReadinessCheck>[] = [
  { title: "Failing check", cell: ({ name }) => name },
  {
    title: "Without it",
    cell: ({ vital }) => (vital ? "the replica serves nobody" : "the replica serves calls"),
  },
  { title: "Reason", cell: ({ reason }) => <span class="wrap">{reason}</span> },
];

/** How long the Treasury and the gas last, and whether the ledger is consistent. */
export function ReservesPanel(): JSX.Element {
  const { operations } = useSession();
  const onNetwork = useOnNetwork();
  const reserves = useCall(
    async (signal) => {
      const [history, money] = await Promise.all([
        operations.getTreasuryHistory({}, { signal }),
        operations.getMoney({}, { signal }),
      ]);
      return { ...history, money };
    },
    [],
    { everyMs: 60_000 },
  );
  return (
    <Panel
      title={`Reserves${onNetwork}`}
      note={
        <>
          Days left at the rate of the last week: <a href="#/treasury">Treasury and gas</a>.
        </>
      }
    >
      <Loaded call={reserves} lines={3}>
        {({ ika, sui, gas, money }) => (
          <Stats>
            <BurnStat name="IKA of the Treasury" of={ika} symbol="IKA" />
            <BurnStat name="SUI of the Treasury" of={sui} symbol="SUI" />
            <BurnStat name="SUI for gas" of={gas} symbol="SUI" />
            <Stat
              name="Balances of projects"
              value={<a href="#/money">{formatMoney(money.balanceMicroUsd)}</a>}
              note={ledgerState(money.ledgerVerification?.differenceCount)}
            />
          </Stats>
        )}
      </Loaded>
    </Panel>
  );
}

function ledgerState(differenceCount: number | undefined): JSX.Element {
  if (differenceCount === undefined) return <Badge tone="none">ledger not verified yet</Badge>;
  if (differenceCount === 0) return <Badge tone="good">no mismatch in the ledger</Badge>;
  return <Badge tone="bad">{`${formatCount(differenceCount)} mismatches in the ledger`}</Badge>;
}
