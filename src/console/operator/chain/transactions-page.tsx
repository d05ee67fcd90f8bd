import type { JSX } from "preact";
import {
  type ChainOperation,
  type ChainOperation_Kind,
  ChainOperation_KindSchema,
  type ChainTransaction,
  ChainTransaction_StateSchema,
  type ChainTransaction_State as State,
} from "../../../../gen/client/tss/v1/admin_pb.ts";
import { networkTraits } from "../../../protocol/chain/network-traits.ts";
import { isOneOf, useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { enumOptions, SelectField } from "../../design/form/field.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Coin } from "../../design/value/coin.tsx";
import { ChainId } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { enumName, plainTime, plainUnits } from "../../format/text.ts";
import { TransactionBadge } from "./transaction-badge.tsx";

/** The transactions that the service has stored. */
export function TransactionsPage(): JSX.Element {
  const { admin, network } = useSession();
  const [state, setState] = useUrlFilter("state", "", isOneOf(STATES));
  const [kind, setKind] = useUrlFilter("operation", "", isOneOf(KINDS));
  const transactions = usePages(
    "transactions",
    async (at, signal) => {
      const filter = {
        ...(state !== "" && { state: Number(state) as State }),
        ...(kind !== "" && { kind: Number(kind) as ChainOperation_Kind }),
      };
      const reply = await admin.listChainTransactions({ ...filter, ...at }, { signal });
      return { items: reply.chainTransactions, nextPageToken: reply.nextPageToken };
    },
    [state, kind],
    { everyMs: 10_000 },
  );
  return (
    <PageFrame
      title="Transactions"
      lead={
        networkTraits(network).explorerUrl === undefined
          ? "Every transaction is stored before it is sent. The localnet has no explorer to link to."
          : "Every transaction is stored before it is sent. Its digest links to an explorer."
      }
    >
      <section class="panel">
        <ListTable
          caption="Transactions"
          columns={columnsOn(network)}
          rowKey={({ txDigest }) => txDigest}
          empty={<Empty title="No transactions">No transaction matches, or none was stored yet.</Empty>}
          pages={transactions}
          lines={6}
          filter={
            <div class="filters">
              <SelectField label="State" options={STATES} value={state} onSelect={setState} />
              <SelectField label="Operation" options={KINDS} value={kind} onSelect={setKind} />
            </div>
          }
        />
      </section>
    </PageFrame>
  );
}

const STATES = [["", "all"], ...enumOptions(ChainTransaction_StateSchema)] as const;
const KINDS = [["", "all"], ...enumOptions(ChainOperation_KindSchema)] as const;

const columnsOn = (network: string): readonly DataColumn<ChainTransaction>[] => [
  {
    title: "Digest",
    cell: ({ txDigest }) => <ChainId id={txDigest} what="transaction digest" kind="tx" network={network} />,
    text: ({ txDigest }) => txDigest,
  },
  {
    title: "State",
    cell: ({ state, errorMessage }) => (
      <>
        <TransactionBadge state={state} />
        {errorMessage !== undefined && <p class="small muted wrap">{errorMessage}</p>}
      </>
    ),
    text: ({ state }) => enumName(ChainTransaction_StateSchema, state),
  },
  {
    title: "Operations",
    cell: ({ operations }) => operationsText(operations),
    text: ({ operations }) => operationsText(operations),
  },
  {
    title: "Sent",
    isNumber: true,
    cell: ({ sendCount }) => `${sendCount}×`,
    text: ({ sendCount }) => `${sendCount}`,
  },
  {
    title: "Gas",
    isNumber: true,
    cell: ({ gasUsedMist }) => (gasUsedMist === undefined ? "—" : <Coin amount={gasUsedMist} symbol="SUI" />),
    text: ({ gasUsedMist }) => (gasUsedMist === undefined ? "" : plainUnits(gasUsedMist, 9)),
  },
  {
    title: "Lane",
    cell: ({ operatorCapId }) => (
      <ChainId id={operatorCapId} what="OperatorCap id" kind="object" network={network} />
    ),
    text: ({ operatorCapId }) => operatorCapId,
  },
  {
    title: "Stored",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
  {
    title: "Resolved",
    cell: ({ resolveTime }) => <Time of={resolveTime} />,
    text: ({ resolveTime }) => plainTime(resolveTime),
  },
];

/** `3 presign, 1 sign`. */
function operationsText(operations: readonly ChainOperation[]): string {
  if (operations.length === 0) return "gas distribution";
  const counts = new Map<ChainOperation_Kind, number>();
  for (const { kind } of operations) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  return [...counts]
    .map(([kind, count]) => `${count} ${enumName(ChainOperation_KindSchema, kind)}`)
    .join(", ");
}
