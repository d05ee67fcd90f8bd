import type { JSX } from "preact";
import type { DepositAddress } from "../../../../gen/client/tss/v1/billing_pb.ts";
import type { DWallet } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { CurveSchema } from "../../../../gen/client/tss/v1/types_pb.ts";
import { CURVES } from "../../../protocol/algorithms.ts";
import { addressesOfKey, type NamedAddress } from "../../../protocol/signatures/addresses.ts";
import { useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { Panel } from "../../design/panel.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Cut } from "../../design/value/cut.tsx";
import { ChainId } from "../../design/value/id.tsx";
import { formatMoney, plainMoney } from "../../format/text.ts";
import { ReferenceFilter } from "../reference-filter.tsx";

/** The deposit addresses with a reference of the project, such as its user's id. */
export function ReferencesPanel(): JSX.Element {
  const { billing, network } = useSession();
  const [wanted, setWanted] = useUrlFilter("reference", "");
  const addresses = usePages(
    "addresses",
    async (at, signal) => {
      const filter = wanted === "" ? {} : { referencePrefix: wanted };
      const reply = await billing.listDepositAddresses({ ...filter, ...at }, { signal });
      return { items: reply.depositAddresses, nextPageToken: reply.nextPageToken };
    },
    [wanted],
  );
  return (
    <Panel title="Addresses with a reference" note="One for each reference that the project has requested.">
      <ListTable
        caption="Addresses with a reference"
        columns={columnsOn(network)}
        rowKey={({ address }) => address}
        empty={
          <Empty title="No addresses">
            {wanted === ""
              ? "A call of GetDepositAddress with a reference creates one."
              : "No reference begins with this text."}
          </Empty>
        }
        pages={addresses}
        filter={<ReferenceFilter wanted={wanted} onFilter={setWanted} />}
      />
    </Panel>
  );
}

const columnsOn = (network: string): readonly DataColumn<DepositAddress>[] => [
  {
    title: "Reference",
    cell: ({ reference }) => <Cut text={reference} />,
    text: ({ reference }) => reference,
  },
  {
    title: "Address",
    cell: ({ address }) => <ChainId id={address} what="deposit address" kind="account" network={network} />,
    text: ({ address }) => address,
  },
  {
    title: "Credited",
    isNumber: true,
    cell: ({ creditedMicroUsd }) => formatMoney(creditedMicroUsd),
    text: ({ creditedMicroUsd }) => plainMoney(creditedMicroUsd),
  },
  {
    title: "Deposits",
    isNumber: true,
    cell: ({ creditedCount }) => `${creditedCount}`,
    text: ({ creditedCount }) => `${creditedCount}`,
  },
  {
    title: "Waiting",
    isNumber: true,
    cell: ({ waitingCount }) => `${waitingCount}`,
    text: ({ waitingCount }) => `${waitingCount}`,
  },
];

/**
 * Returns the addresses of a dWallet's public key, computed in the page. Empty without a key or for a malformed one.
 */
export function addressesOf({ curve, publicKey }: Pick<DWallet, "curve" | "publicKey">): NamedAddress[] {
  const name = CURVES.find((known) => known === CurveSchema.value[curve]?.name);
  if (publicKey === undefined || name === undefined) return [];
  try {
    return addressesOfKey(name, publicKey);
  } catch {
    return [];
  }
}

/** The names of the kinds of addresses, for people. */
export const addressNames: Readonly<Record<NamedAddress["kind"], string>> = {
  ethereum: "Ethereum",
  "bitcoin-p2wpkh": "Bitcoin P2WPKH",
  "bitcoin-p2tr": "Bitcoin P2TR",
  solana: "Solana",
  sui: "Sui",
  polkadot: "Substrate",
};
