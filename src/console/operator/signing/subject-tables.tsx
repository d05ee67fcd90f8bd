import type { JSX } from "preact";
import {
  ChainOperation_KindSchema,
  type InspectedEntry,
  type InspectedOperation,
  InspectedOperation_StateSchema,
  InspectedOperation_State as State,
} from "../../../../gen/client/tss/v1/admin_pb.ts";
import { LedgerEntry_KindSchema } from "../../../../gen/client/tss/v1/billing_pb.ts";
import { useSession } from "../../api/session.ts";
import { Empty } from "../../design/empty.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Badge, type Tone } from "../../design/value/badge.tsx";
import { Coin } from "../../design/value/coin.tsx";
import { ChainId, Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { enumName, formatMoneyChange } from "../../format/text.ts";
import { TransactionBadge } from "../chain/transaction-badge.tsx";

/** The chain operations about a subject, each with its transaction. */
export function OperationsPanel({ operations }: OperationsPanelProps): JSX.Element {
  const { network } = useSession();
  return (
    <Panel title="Chain operations" note="What the service sends to the chain, the oldest first.">
      <DataTable
        caption="Chain operations"
        columns={operationColumns(network)}
        rows={operations}
        rowKey={({ kind }) => `${kind}`}
        empty={<Empty title="No operations">The service has asked the chain for nothing yet.</Empty>}
      />
    </Panel>
  );
}

interface OperationsPanelProps {
  readonly operations: readonly InspectedOperation[];
}

const operationColumns = (network: string): readonly DataColumn<InspectedOperation>[] => [
  { title: "Operation", cell: ({ kind }) => enumName(ChainOperation_KindSchema, kind) },
  {
    title: "State",
    cell: ({ state, failureReason, failureMessage, attemptCount }) => (
      <>
        <Badge tone={TONES[state] ?? "none"}>{enumName(InspectedOperation_StateSchema, state)}</Badge>
        {failureReason !== undefined && (
          <p class="small muted wrap">
            {failureReason}
            {failureMessage !== undefined && `: ${failureMessage}`}
          </p>
        )}
        {attemptCount > 0 && <p class="small muted">went back to the queue {attemptCount}×</p>}
      </>
    ),
  },
  { title: "Queued", cell: ({ createTime }) => <Time of={createTime} /> },
  { title: "Changed", cell: ({ updateTime }) => <Time of={updateTime} /> },
  {
    title: "Transaction",
    cell: ({ chainTransaction: sent }) =>
      sent === undefined ? (
        <span class="muted">waits for a lane</span>
      ) : (
        <ChainId id={sent.txDigest} what="transaction digest" kind="tx" network={network} />
      ),
  },
  {
    title: "Outcome",
    cell: ({ chainTransaction: sent }) =>
      sent === undefined ? (
        "—"
      ) : (
        <>
          <TransactionBadge state={sent.state} />
          {sent.errorMessage !== undefined && <p class="small muted wrap">{sent.errorMessage}</p>}
        </>
      ),
  },
  { title: "Sent", cell: ({ chainTransaction: sent }) => (sent ? <Time of={sent.createTime} /> : "—") },
  {
    title: "Resolved",
    cell: ({ chainTransaction: sent }) => (sent?.resolveTime ? <Time of={sent.resolveTime} /> : "—"),
  },
  {
    title: "Gas",
    isNumber: true,
    cell: ({ chainTransaction: sent }) =>
      sent?.gasUsedMist === undefined ? "—" : <Coin amount={sent.gasUsedMist} symbol="SUI" />,
  },
];

const TONES: Readonly<Partial<Record<State, Tone>>> = {
  [State.queued]: "busy",
  [State.sent]: "busy",
  [State.landed]: "good",
  [State.failed]: "bad",
};

/** The movements of the project's money because of a subject. */
export function EntriesPanel({ entries }: { readonly entries: readonly InspectedEntry[] }): JSX.Element {
  return (
    <Panel title="Ledger">
      <DataTable
        caption="Ledger entries"
        columns={ENTRY_COLUMNS}
        rows={entries}
        rowKey={({ ledgerEntryId }) => ledgerEntryId}
        empty={<Empty title="No entries">Nothing was charged.</Empty>}
      />
    </Panel>
  );
}

const ENTRY_COLUMNS: readonly DataColumn<InspectedEntry>[] = [
  { title: "Kind", cell: ({ kind }) => enumName(LedgerEntry_KindSchema, kind) },
  { title: "Entry", cell: ({ ledgerEntryId }) => <Id id={ledgerEntryId} what="ledger entry id" /> },
  { title: "Booked", cell: ({ createTime }) => <Time of={createTime} /> },
  {
    title: "Change",
    isNumber: true,
    cell: ({ amountMicroUsd }) => (
      <span class={amountMicroUsd > 0n ? "gain" : undefined}>{formatMoneyChange(amountMicroUsd)}</span>
    ),
  },
];
