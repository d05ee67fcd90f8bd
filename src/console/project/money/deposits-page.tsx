import type { JSX } from "preact";
import { useState } from "preact/hooks";
import {
  type Deposit,
  Deposit_StateSchema,
  type DepositCoin,
  type GetDepositAddressResponse,
  Deposit_State as State,
} from "../../../../gen/client/tss/v1/billing_pb.ts";
import { formatPriceUsd } from "../../../protocol/price-table.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { TextField } from "../../design/form/field.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Cut } from "../../design/value/cut.tsx";
import { ChainId } from "../../design/value/id.tsx";
import { QrCode } from "../../design/value/qr-code.tsx";
import { Time } from "../../design/value/time.tsx";
import { missingText } from "../../format/form-state.ts";
import { digestFault } from "../../format/input-faults.ts";
import { enumName, formatMoney, plainMoney, plainTime, plainUnits, shortUnits } from "../../format/text.ts";
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
    "deposits",
    async (at, signal) => {
      const reply = await billing.listDeposits({ ...at }, { signal });
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
      <ListTable
        caption="Deposits"
        columns={columnsOn(network, coins)}
        rowKey={({ depositId }) => depositId}
        empty={<Empty title="No deposits yet">Send an accepted coin to the address above.</Empty>}
        pages={deposits}
      />
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
  {
    title: "Found",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
  {
    title: "State",
    cell: ({ state }) =>
      state === State.credited ? <Badge tone="good">credited</Badge> : <Badge tone="busy">waiting</Badge>,
    text: ({ state }) => enumName(Deposit_StateSchema, state),
  },
  {
    title: "Amount",
    isNumber: true,
    cell: (deposit) => <Amount of={deposit} coins={coins} />,
    text: (deposit) => plainAmount(deposit, coins),
  },
  { title: "Coin", cell: (deposit) => symbolOf(deposit, coins), text: ({ coinType }) => coinType },
  {
    title: "Credit",
    isNumber: true,
    cell: ({ credit }) => (credit === undefined ? "—" : formatMoney(credit.valueMicroUsd)),
    text: ({ credit }) => (credit === undefined ? "" : plainMoney(credit.valueMicroUsd)),
  },
  {
    title: "Reference",
    cell: ({ reference }) =>
      reference === undefined ? <span class="muted">none</span> : <Cut text={reference} />,
    text: ({ reference }) => reference ?? "",
  },
  {
    title: "Transaction",
    cell: ({ txDigest }) => <ChainId id={txDigest} what="transaction digest" kind="tx" network={network} />,
    text: ({ txDigest }) => txDigest,
  },
];

const coinOf = ({ coinType }: Deposit, coins: readonly DepositCoin[]): DepositCoin | undefined =>
  coins.find((each) => each.coinType === coinType);

const symbolOf = (deposit: Deposit, coins: readonly DepositCoin[]): string =>
  coinOf(deposit, coins)?.symbol ?? deposit.coinType.split("::").at(-1) ?? "";

/** The amount in whole coins, or in smallest units of a coin that is no longer accepted. */
function Amount({ of: deposit, coins }: AmountProps): JSX.Element {
  const coin = coinOf(deposit, coins);
  if (coin === undefined) return <>{deposit.amount} smallest units</>;
  const amount = BigInt(deposit.amount);
  return (
    <span title={`${plainUnits(amount, coin.decimals)} ${coin.symbol}`}>
      {shortUnits(amount, coin.decimals)}
    </span>
  );
}

interface AmountProps extends DepositsPanelProps {
  readonly of: Deposit;
}

function plainAmount(deposit: Deposit, coins: readonly DepositCoin[]): string {
  const coin = coinOf(deposit, coins);
  return coin === undefined ? deposit.amount : plainUnits(BigInt(deposit.amount), coin.decimals);
}

/** Requests an immediate check of a transaction for deposits. */
export function DeclareDepositDialog({ onClose, onDeclared }: DeclareDepositDialogProps): JSX.Element {
  const { billing } = useSession();
  const [digest, setDigest] = useState("");
  return (
    <ActionDialog
      title="Declare a deposit"
      action="Check the transaction"
      missing={missingText({ required: [["Transaction digest", digest]], faults: [digestFault(digest)] })}
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
