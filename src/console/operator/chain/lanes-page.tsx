import type { JSX } from "preact";
import { ChainOperation_KindSchema } from "../../../../gen/client/tss/v1/admin_pb.ts";
import {
  type GetLanesResponse,
  type GetOutboxResponse,
  type LaneStatus,
  type OutboxEntry,
  OutboxEntry_StateSchema,
} from "../../../../gen/client/tss/v1/operations_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { ChainId } from "../../design/value/id.tsx";
import { Age } from "../../design/value/time.tsx";
import { enumName } from "../../format/text.ts";
import { TransactionBadge } from "./transaction-badge.tsx";

/** The lanes, and the operations that wait for them. */
export function LanesPage(): JSX.Element {
  const { operations, network } = useSession();
  const lanes = useCall((signal) => operations.getLanes({}, { signal }), [], { everyMs: 5_000 });
  const outbox = useCall((signal) => operations.getOutbox({}, { signal }), [], { everyMs: 5_000 });
  return (
    <PageFrame
      title="Lanes and outbox"
      lead="Operations wait in the outbox for a lane. A lane sends one transaction at a time."
    >
      <Panel title="Outbox" note="The operations that are not on the chain yet.">
        <Loaded call={outbox}>
          {(reply) => (
            <DataTable
              caption="Open operations"
              columns={outboxColumns(reply)}
              rows={reply.entries}
              rowKey={({ kind, state }) => `${kind}:${state}`}
              empty={<Empty title="The outbox is empty">Every operation is on the chain.</Empty>}
            />
          )}
        </Loaded>
      </Panel>
      <Panel title="Lanes">
        <Loaded call={lanes}>
          {(reply) => (
            <DataTable
              caption="Lanes"
              columns={laneColumns(reply, network)}
              rows={reply.lanes}
              rowKey={({ operatorCapId }) => operatorCapId}
              empty={<Empty title="No lanes">Without a lane the service sends nothing.</Empty>}
            />
          )}
        </Loaded>
      </Panel>
    </PageFrame>
  );
}

const outboxColumns = ({ readTime }: GetOutboxResponse): readonly DataColumn<OutboxEntry>[] => [
  { title: "Operation", cell: ({ kind }) => enumName(ChainOperation_KindSchema, kind) },
  {
    title: "State",
    cell: ({ state }) => <Badge tone="busy">{enumName(OutboxEntry_StateSchema, state)}</Badge>,
  },
  { title: "Count", isNumber: true, cell: ({ count }) => count.toLocaleString("en") },
  { title: "Oldest", cell: ({ oldestCreateTime }) => <Age of={oldestCreateTime} at={readTime} /> },
];

const laneColumns = ({ readTime }: GetLanesResponse, network: string): readonly DataColumn<LaneStatus>[] => [
  {
    title: "OperatorCap",
    cell: ({ operatorCapId }) => (
      <ChainId id={operatorCapId} what="OperatorCap id" kind="object" network={network} />
    ),
  },
  { title: "State", cell: laneState },
  {
    title: "Unknown outcome",
    cell: ({ unresolved, foreignTxDigest }) => {
      const digest = foreignTxDigest ?? unresolved?.txDigest;
      if (digest === undefined) return <span class="muted">none</span>;
      return (
        <>
          <ChainId id={digest} what="transaction digest" kind="tx" network={network} />
          {foreignTxDigest === undefined && unresolved !== undefined && (
            <p class="small muted">
              sent {unresolved.sendCount}×, stored <Age of={unresolved.createTime} at={readTime} />
            </p>
          )}
        </>
      );
    },
  },
  {
    title: "Last outcome",
    cell: ({ lastResolved }) =>
      lastResolved === undefined ? (
        <span class="muted">none yet</span>
      ) : (
        <>
          <TransactionBadge state={lastResolved.state} /> <Age of={lastResolved.resolveTime} at={readTime} />
        </>
      ),
  },
  { title: "Gas coins", isNumber: true, cell: ({ gasCoinCount }) => gasCoinCount },
  { title: "Fence", isNumber: true, cell: ({ fence }) => `${fence}` },
];

function laneState({ configured, leaseEndTime, unresolved, foreignTxDigest }: LaneStatus): JSX.Element {
  if (foreignTxDigest !== undefined) return <Badge tone="bad">foreign transaction</Badge>;
  if (!configured) return <Badge tone="warn">not configured</Badge>;
  if (unresolved !== undefined) return <Badge tone="busy">outcome unknown</Badge>;
  return leaseEndTime === undefined ? <Badge tone="none">idle</Badge> : <Badge tone="good">leased</Badge>;
}
