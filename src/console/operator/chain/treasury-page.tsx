import type { JSX } from "preact";
import type { GetTreasuryResponse, Lane, Wallet } from "../../../../gen/client/tss/v1/admin_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Badge } from "../../design/value/badge.tsx";
import { Coin } from "../../design/value/coin.tsx";
import { Facts } from "../../design/value/facts.tsx";
import { ChainId } from "../../design/value/id.tsx";
import { formatCoin } from "../../format/text.ts";
import { BurnPanel } from "./burn-panel.tsx";
import { CEILING_COLUMNS, groupCeilings } from "./price-ceilings.tsx";

/** The Treasury, the wallets and the lanes, as they are on the chain. */
export function TreasuryPage(): JSX.Element {
  const { admin, network } = useSession();
  const treasury = useCall((signal) => admin.getTreasury({}, { signal }), [], { everyMs: 30_000 });
  return (
    <PageFrame
      title="Treasury and gas"
      lead="The Treasury pays Ika's fees. Gas coins of the lanes pay for the transactions."
    >
      <BurnPanel />
      <Loaded call={treasury} lines={8}>
        {(reply) => <TreasuryParts reply={reply} network={network} />}
      </Loaded>
    </PageFrame>
  );
}

function TreasuryParts({ reply, network }: TreasuryPartsProps): JSX.Element {
  const { treasury, hotWallet, gasStation, lanes } = reply;
  return (
    <>
      {treasury !== undefined && (
        <Panel title="Treasury">
          <Facts
            facts={[
              ["State", treasury.paused ? <Badge tone="bad">paused</Badge> : <Badge tone="good">open</Badge>],
              ["IKA", <Coin amount={treasury.ikaBalance} symbol="IKA" />],
              ["SUI", <Coin amount={treasury.suiBalanceMist} symbol="SUI" />],
              [
                "Object",
                <ChainId id={treasury.treasuryId} what="Treasury id" kind="object" network={network} />,
              ],
              [
                "Package",
                <ChainId id={treasury.packageId} what="package id" kind="object" network={network} />,
              ],
            ]}
          />
        </Panel>
      )}
      <Panel title="Wallets">
        <Facts
          facts={[
            ["Hot wallet", hotWallet && <WalletText wallet={hotWallet} network={network} />],
            [
              "Gas station",
              gasStation ? (
                <WalletText wallet={gasStation} network={network} />
              ) : (
                <span class="muted">The hot wallet pays for its own gas.</span>
              ),
            ],
          ]}
        />
      </Panel>
      <Panel title="Lanes" note="Each lane sends one transaction at a time, with its own gas coins.">
        <DataTable
          caption="Lanes"
          columns={laneColumns(network)}
          rows={lanes}
          rowKey={({ operatorCapId }) => operatorCapId}
          empty={<Empty title="No lanes">Without a lane the service sends nothing.</Empty>}
        />
      </Panel>
      <Panel
        title="Price ceilings"
        note="The maximum cost of an operation. Operations without a ceiling are refused."
      >
        <DataTable
          caption="Price ceilings"
          columns={CEILING_COLUMNS}
          rows={groupCeilings(treasury?.priceCeilings ?? [])}
          rowKey={({ operation, maxIka, maxSuiMist }) => [operation, maxIka, maxSuiMist].join(":")}
          empty={<Empty title="No ceilings">The Treasury refuses every operation.</Empty>}
        />
      </Panel>
    </>
  );
}

interface TreasuryPartsProps {
  readonly reply: GetTreasuryResponse;
  readonly network: string;
}

function WalletText({ wallet, network }: { readonly wallet: Wallet; readonly network: string }): JSX.Element {
  return (
    <>
      <Coin amount={wallet.suiBalanceMist} symbol="SUI" />
      {wallet.addressBalanceMist > 0n &&
        ` (${formatCoin(wallet.addressBalanceMist, "SUI")} in the address balance)`}{" "}
      <ChainId id={wallet.address} what="address" kind="account" network={network} />
    </>
  );
}

const laneColumns = (network: string): readonly DataColumn<Lane>[] => [
  {
    title: "OperatorCap",
    cell: ({ operatorCapId }) => (
      <ChainId id={operatorCapId} what="OperatorCap id" kind="object" network={network} />
    ),
  },
  { title: "State", cell: laneState },
  {
    title: "Gas",
    isNumber: true,
    cell: ({ gasBalanceMist }) => <Coin amount={gasBalanceMist} symbol="SUI" />,
  },
  { title: "Gas coins", isNumber: true, cell: ({ gasCoins }) => gasCoins.length },
  { title: "Fence", isNumber: true, cell: ({ fence }) => `${fence}` },
  {
    title: "Unknown outcome",
    cell: ({ unresolvedTxDigest, foreignTxDigest }) => {
      const digest = foreignTxDigest ?? unresolvedTxDigest;
      return digest === undefined ? (
        <span class="muted">none</span>
      ) : (
        <ChainId id={digest} what="transaction digest" kind="tx" network={network} />
      );
    },
  },
];

function laneState({ authorised, leased, unresolvedTxDigest, foreignTxDigest }: Lane): JSX.Element {
  if (!authorised) return <Badge tone="bad">not authorised</Badge>;
  if (foreignTxDigest !== undefined) return <Badge tone="bad">foreign transaction</Badge>;
  if (unresolvedTxDigest !== undefined) return <Badge tone="busy">outcome unknown</Badge>;
  return leased ? <Badge tone="good">leased</Badge> : <Badge tone="none">idle</Badge>;
}
