import type { JSX } from "preact";
import { type LedgerEntry, LedgerEntry_KindSchema } from "../../../../gen/client/tss/v1/billing_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Stat, Stats } from "../../design/value/facts.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { enumName, formatMoney, formatMoneyChange, plainMoney, plainTime } from "../../format/text.ts";
import { LowBalancePanel } from "./low-balance-panel.tsx";

/** The project's balance and ledger. */
export function BalancePage(): JSX.Element {
  const { billing } = useSession();
  const balance = useCall((signal) => billing.getBalance({}, { signal }), [], { everyMs: 10_000 });
  return (
    <PageFrame title="Balance" actions={<DepositLink />}>
      <section class="panel" aria-label="Balance">
        <Loaded call={balance} lines={2}>
          {({ balanceMicroUsd, heldMicroUsd }) => (
            <Stats>
              <Stat name="To spend" value={formatMoney(balanceMicroUsd - heldMicroUsd)} />
              <Stat name="Held" value={formatMoney(heldMicroUsd)} note="for open reservations" />
              <Stat name="Balance" value={formatMoney(balanceMicroUsd)} />
            </Stats>
          )}
        </Loaded>
      </section>
      {balance.data !== undefined && (
        <LowBalancePanel lowBalanceMicroUsd={balance.data.lowBalanceMicroUsd} onChanged={balance.reload} />
      )}
      <LedgerPanel />
    </PageFrame>
  );
}

function DepositLink(): JSX.Element {
  return (
    <a class="button button-primary" href="#/deposits">
      Deposit
    </a>
  );
}

/** The entries of the project's ledger, newest first. */
export function LedgerPanel(): JSX.Element {
  const { billing } = useSession();
  const entries = usePages(
    "ledger",
    async (at, signal) => {
      const reply = await billing.listLedgerEntries({ ...at }, { signal });
      return { items: reply.ledgerEntries, nextPageToken: reply.nextPageToken };
    },
    [],
    { everyMs: 15_000 },
  );
  return (
    <Panel title="Ledger" note="Every movement of money, newest first. Entries never change.">
      <ListTable
        caption="Ledger"
        columns={COLUMNS}
        rowKey={({ ledgerEntryId }) => ledgerEntryId}
        empty={<Empty title="No movements yet">Deposits, charges and refunds appear here.</Empty>}
        pages={entries}
        lines={6}
      />
    </Panel>
  );
}

const COLUMNS: readonly DataColumn<LedgerEntry>[] = [
  {
    title: "Time",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
  {
    title: "Kind",
    cell: ({ kind }) => enumName(LedgerEntry_KindSchema, kind).replace("_", " "),
    text: ({ kind }) => enumName(LedgerEntry_KindSchema, kind),
  },
  {
    title: "About",
    cell: (entry) => <Subject of={entry} />,
    text: ({ signRequestId, dwalletId, depositReference, description }) =>
      signRequestId ?? dwalletId ?? depositReference ?? description,
  },
  {
    title: "Change",
    isNumber: true,
    cell: ({ amountMicroUsd }) => (
      <span class={amountMicroUsd > 0n ? "gain" : undefined}>{formatMoneyChange(amountMicroUsd)}</span>
    ),
    text: ({ amountMicroUsd }) => plainMoney(amountMicroUsd),
  },
  {
    title: "Balance",
    isNumber: true,
    cell: ({ balanceMicroUsd }) => formatMoney(balanceMicroUsd),
    text: ({ balanceMicroUsd }) => plainMoney(balanceMicroUsd),
  },
];

function Subject({
  of: { signRequestId, dwalletId, depositReference, description },
}: SubjectProps): JSX.Element {
  if (signRequestId !== undefined)
    return <Id id={signRequestId} what="sign request id" href={`#/signs/${signRequestId}`} />;
  if (dwalletId !== undefined)
    return <Id id={dwalletId} what="dWallet id" href={`#/dwallets/${dwalletId}`} />;
  return <span class="wrap">{depositReference ?? description}</span>;
}

interface SubjectProps {
  readonly of: LedgerEntry;
}
