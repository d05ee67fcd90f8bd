import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  type Deposit,
  type DepositCoin,
  type GetDepositAddressResponse,
  Deposit_State as State,
} from "../../../gen/client/tss/v1/billing_pb.ts";
import { formatPriceUsd, formatUnits } from "../../protocol/price-table.ts";
import { useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { usePages } from "../api/use-pages.ts";
import { digestFault } from "../format/input-faults.ts";
import { formatMoney } from "../format/text.ts";
import { Badge } from "../ui/badge.tsx";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { ActionDialog } from "../ui/dialog.tsx";
import { Empty } from "../ui/empty.tsx";
import { TextField } from "../ui/field.tsx";
import { ChainId } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Panel } from "../ui/panel.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { Time } from "../ui/time.tsx";
import { ReferencesPanel } from "./references-panel.tsx";

/** The project's deposit address, and its deposits. */
export function DepositsPage(): JSX.Element {
  const { billing } = useSession();
  const address = useCall((signal) => billing.getDepositAddress({}, { signal }), [], { everyMs: 30_000 });
  return (
    <PageFrame title="Deposits" lead="Coins that arrive at an address of the project become credit.">
      <Loaded call={address} lines={8}>
        {(reply) => <Address reply={reply} />}
      </Loaded>
      <DepositsPanel coins={address.data?.coins ?? []} />
      <ReferencesPanel />
    </PageFrame>
  );
}

function Address({ reply }: { readonly reply: GetDepositAddressResponse }): JSX.Element {
  const { address, network, coins, minimumDepositMicroUsd, waitingMicroUsd } = reply;
  return (
    <Panel
      title="Deposit address"
      note={`Only on ${network}: the service does not see coins sent on another network.`}
    >
      <div class="deposit">
        <QrCode text={address} label={`QR code of the deposit address ${address}`} />
        <div>
          <p>
            <ChainId id={address} what="deposit address" kind="account" network={network} isWhole />
          </p>
          <p>
            Deposits are credited once they are worth {formatMoney(minimumDepositMicroUsd)} together.
            {waitingMicroUsd > 0n && <> Now {formatMoney(waitingMicroUsd)} wait.</>}
          </p>
          <DataTable
            caption="Accepted coins"
            columns={COIN_COLUMNS}
            rows={coins}
            rowKey={({ coinType }) => coinType}
            empty={<Empty title="No coin is accepted">The operator has not configured any.</Empty>}
          />
        </div>
      </div>
    </Panel>
  );
}

const COIN_COLUMNS: readonly DataColumn<DepositCoin>[] = [
  { title: "Coin", cell: ({ symbol, coinType }) => <span title={coinType}>{symbol}</span> },
  {
    title: "Price",
    isNumber: true,
    cell: ({ priceUsd }) =>
      priceUsd === undefined ? "no fresh price; deposits wait" : formatPriceUsd(priceUsd),
  },
  { title: "Priced", cell: ({ priceTime }) => <Time of={priceTime} /> },
];

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

/** Requests an immediate check of a transaction for deposits. */
export function DeclareDepositDialog({ onClose, onDeclared }: DeclareDepositDialogProps): JSX.Element {
  const { billing } = useSession();
  const [digest, setDigest] = useState("");
  return (
    <ActionDialog
      title="Declare a deposit"
      action="Check the transaction"
      isReady={digest.trim() !== "" && digestFault(digest) === undefined}
      onClose={onClose}
      onAct={async () => {
        await billing.declareDeposit({ txDigest: digest.trim() });
        onDeclared();
      }}
    >
      <TextField
        label="Transaction digest"
        value={digest}
        onInput={setDigest}
        required
        autofocus
        fault={digestFault(digest)}
        hint="43 or 44 characters of base 58, as your wallet shows it."
      />
    </ActionDialog>
  );
}

interface DeclareDepositDialogProps {
  onClose(): void;
  onDeclared(): void;
}
