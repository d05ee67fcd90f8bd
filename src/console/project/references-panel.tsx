import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { DepositAddress } from "../../../gen/client/tss/v1/billing_pb.ts";
import { useSession } from "../api/session-context.ts";
import { usePages } from "../api/use-pages.ts";
import { lengthFault } from "../format/input-faults.ts";
import { formatMoney } from "../format/money.ts";
import { type DataColumn, DataTable } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { TextField } from "../ui/field.tsx";
import { ChainId } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { Pager } from "../ui/pager.tsx";
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
  { title: "Reference", cell: ({ reference }) => <span class="wrap">{reference}</span> },
  {
    title: "Address",
    cell: ({ address }) => <ChainId id={address} what="deposit address" kind="account" network={network} />,
  },
  { title: "Credited", isNumber: true, cell: ({ creditedMicroUsd }) => formatMoney(creditedMicroUsd) },
  { title: "Deposits", isNumber: true, cell: ({ creditedCount }) => `${creditedCount}` },
  { title: "Waiting", isNumber: true, cell: ({ waitingCount }) => `${waitingCount}` },
];
