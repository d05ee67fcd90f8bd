import type { JSX } from "preact";
import type { DepositCoin, GetDepositAddressResponse } from "../../../gen/client/tss/v1/billing_pb.ts";
import { formatPriceUsd } from "../../protocol/money.ts";
import { useSession } from "../api/session.ts";
import { useCall } from "../api/use-call.ts";
import { formatMoney } from "../format/money.ts";
import { type DataColumn, DataTable } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { ChainId } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { PageFrame } from "../ui/page-frame.tsx";
import { Panel } from "../ui/panel.tsx";
import { QrCode } from "../ui/qr-code.tsx";
import { Time } from "../ui/time.tsx";
import { DepositsPanel } from "./deposits-panel.tsx";
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
