import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { DepositAddress } from "../../../gen/client/tss/v1/billing_pb.ts";
import type { DWallet } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { CurveSchema } from "../../../gen/client/tss/v1/types_pb.ts";
import { CURVES } from "../../protocol/algorithms.ts";
import { addressesOfKey, type NamedAddress } from "../../protocol/signatures/addresses.ts";
import { useSession } from "../api/session.ts";
import { usePages } from "../api/use-pages.ts";
import { lengthFault } from "../format/input-faults.ts";
import { formatMoney } from "../format/text.ts";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { TextField } from "../ui/field.tsx";
import { ChainId } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Panel } from "../ui/panel.tsx";
import { useUrlFilter } from "../ui/use-url-filter.ts";

/** The deposit addresses with a reference of the project, such as its user's id. */
export function ReferencesPanel(): JSX.Element {
  const { billing, network } = useSession();
  const [wanted, setWanted] = useUrlFilter("reference", "");
  const [prefix, setPrefix] = useState(wanted);
  const fault = lengthFault(prefix, REFERENCE_MAX_LENGTH);
  const addresses = usePages(
    async (pageToken, signal) => {
      const filter = wanted === "" ? {} : { referencePrefix: wanted };
      const reply = await billing.listDepositAddresses({ ...filter, pageToken }, { signal });
      return { items: reply.depositAddresses, nextPageToken: reply.nextPageToken };
    },
    [wanted],
  );
  return (
    <Panel title="Addresses with a reference" note="One for each reference that the project has requested.">
      <form
        class="filters"
        onSubmit={(event) => {
          event.preventDefault();
          if (fault === undefined) setWanted(prefix);
        }}
      >
        <TextField label="Reference begins with" value={prefix} onInput={setPrefix} fault={fault} />
        <button type="submit" class="button">
          Filter
        </button>
      </form>
      <Loaded call={addresses}>
        {({ items }) => (
          <DataTable
            caption="Addresses with a reference"
            columns={columnsOn(network)}
            rows={items}
            rowKey={({ address }) => address}
            empty={
              <Empty title="No addresses">
                {wanted === ""
                  ? "A call of GetDepositAddress with a reference creates one."
                  : "No reference begins with this text."}
              </Empty>
            }
          />
        )}
      </Loaded>
      <Pager pages={addresses} of="addresses" />
    </Panel>
  );
}

const REFERENCE_MAX_LENGTH = 128;

const columnsOn = (network: string): readonly DataColumn<DepositAddress>[] => [
  { title: "Reference", cell: ({ reference }) => <span class="wrap spaces">{reference}</span> },
  {
    title: "Address",
    cell: ({ address }) => <ChainId id={address} what="deposit address" kind="account" network={network} />,
  },
  { title: "Credited", isNumber: true, cell: ({ creditedMicroUsd }) => formatMoney(creditedMicroUsd) },
  { title: "Deposits", isNumber: true, cell: ({ creditedCount }) => `${creditedCount}` },
  { title: "Waiting", isNumber: true, cell: ({ waitingCount }) => `${waitingCount}` },
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
