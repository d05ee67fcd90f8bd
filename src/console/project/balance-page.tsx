import type { JSX } from "preact";
import { type LedgerEntry, LedgerEntry_KindSchema } from "../../../gen/client/tss/v1/billing_pb.ts";
import { useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { usePages } from "../api/use-pages.ts";
import { enumName, formatMoney, formatMoneyChange } from "../format/text.ts";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { Stat, Stats } from "../ui/facts.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Panel } from "../ui/panel.tsx";
import { Time } from "../ui/time.tsx";

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
    async (pageToken, signal) => {
      const reply = await billing.listLedgerEntries({ pageToken }, { signal });
      return { items: reply.ledgerEntries, nextPageToken: reply.nextPageToken };
    },
    [],
    { everyMs: 15_000 },
  );
  return (
    <Panel title="Ledger" note="Every movement of money, newest first. Entries never change.">
      <Loaded call={entries} lines={6}>
        {({ items }) => (
          <DataTable
            caption="Ledger"
            columns={COLUMNS}
            rows={items}
            rowKey={({ ledgerEntryId }) => ledgerEntryId}
            empty={<Empty title="No movements yet">Deposits, charges and refunds appear here.</Empty>}
          />
        )}
      </Loaded>
      <Pager pages={entries} of="the ledger" />
    </Panel>
  );
}

const COLUMNS: readonly DataColumn<LedgerEntry>[] = [
  { title: "Time", cell: ({ createTime }) => <Time of={createTime} /> },
  { title: "Kind", cell: ({ kind }) => enumName(LedgerEntry_KindSchema, kind).replace("_", " ") },
  {
    title: "About",
    cell: (entry) => <Subject of={entry} />,
  },
  {
    title: "Change",
    isNumber: true,
    cell: ({ amountMicroUsd }) => (
      <span class={amountMicroUsd > 0n ? "gain" : undefined}>{formatMoneyChange(amountMicroUsd)}</span>
    ),
  },
  { title: "Balance", isNumber: true, cell: ({ balanceMicroUsd }) => formatMoney(balanceMicroUsd) },
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
