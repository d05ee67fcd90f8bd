import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  type Deposit,
  type DepositCoin,
  Deposit_State as State,
} from "../../../gen/client/tss/v1/billing_pb.ts";
import { formatUnits } from "../../protocol/money.ts";
import { useSession } from "../api/session.ts";
import { usePages } from "../api/use-pages.ts";
import { formatMoney } from "../format/money.ts";
import { Badge } from "../ui/badge.tsx";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { ChainId } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Panel } from "../ui/panel.tsx";
import { Time } from "../ui/time.tsx";
import { DeclareDepositDialog } from "./declare-deposit-dialog.tsx";

export function DepositsPanel({ coins }: DepositsPanelProps): JSX.Element {
  const { billing, network } = useSession();
  const [isDeclaring, setIsDeclaring] = useState(false);
  const deposits = usePages(
    async (pageToken, signal) => {
      const reply = await billing.listDeposits({ pageToken }, { signal });
      return { items: reply.deposits, nextPageToken: reply.nextPageToken };
    },
    [],
    { everyMs: 15_000 },
  );
  return (
    <Panel
      title="Deposits"
      note="The service finds deposits automatically, and checks a declared transaction at once."
      actions={
        <button type="button" class="button" onClick={() => setIsDeclaring(true)}>
          Declare a deposit
        </button>
      }
    >
      <Loaded call={deposits}>
        {({ items }) => (
          <DataTable
            caption="Deposits"
            columns={columnsOn(network, coins)}
            rows={items}
            rowKey={({ depositId }) => depositId}
            empty={<Empty title="No deposits yet">Send an accepted coin to the address above.</Empty>}
          />
        )}
      </Loaded>
      <Pager pages={deposits} of="deposits" />
      {isDeclaring && (
        <DeclareDepositDialog
          onClose={() => setIsDeclaring(false)}
          onDeclared={() => {
            setIsDeclaring(false);
            deposits.reload();
          }}
        />
      )}
    </Panel>
  );
}

interface DepositsPanelProps {
  /** The accepted coins, with the decimals of amounts. */
  readonly coins: readonly DepositCoin[];
}

const columnsOn = (network: string, coins: readonly DepositCoin[]): readonly DataColumn<Deposit>[] => [
  { title: "Found", cell: ({ createTime }) => <Time of={createTime} /> },
  {
    title: "State",
    cell: ({ state }) =>
      state === State.credited ? <Badge tone="good">credited</Badge> : <Badge tone="busy">waiting</Badge>,
  },
  {
    title: "Amount",
    isNumber: true,
    cell: (deposit) => <span title={deposit.coinType}>{amountText(deposit, coins)}</span>,
  },
  {
    title: "Credit",
    isNumber: true,
    cell: ({ credit }) => (credit === undefined ? "—" : formatMoney(credit.valueMicroUsd)),
  },
  { title: "Reference", cell: ({ reference }) => reference ?? <span class="muted">none</span> },
  {
    title: "Transaction",
    cell: ({ txDigest }) => <ChainId id={txDigest} what="transaction digest" kind="tx" network={network} />,
  },
];

/** Formats an amount in whole coins, or in smallest units of a coin that is no longer accepted. */
function amountText({ amount, coinType }: Deposit, coins: readonly DepositCoin[]): string {
  const coin = coins.find((each) => each.coinType === coinType);
  if (coin === undefined) return `${amount} of ${coinType.split("::").at(-1)}'s smallest unit`;
  return `${formatUnits(BigInt(amount), coin.decimals, 0)} ${coin.symbol}`;
}
