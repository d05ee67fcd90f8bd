import type { JSX } from "preact";
import type { DWallet } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { CurveSchema } from "../../../gen/client/tss/v1/types_pb.ts";
import { useSession } from "../api/session.ts";
import { usePages } from "../api/use-pages.ts";
import { enumName } from "../format/text.ts";
import { type DataColumn, DataTable, Pager } from "../ui/data-table.tsx";
import { Empty } from "../ui/empty.tsx";
import { Id } from "../ui/id.tsx";
import { Loaded } from "../ui/loaded.tsx";
import { addressesOf, addressNames } from "./references-panel.tsx";
import { DWalletBadge } from "./state-badges.tsx";

/** The project's dWallets, or those of one user. */
export function DWalletsList({ userReference }: { readonly userReference?: string }): JSX.Element {
  const { onboarding } = useSession();
  const dwallets = usePages(
    async (pageToken, signal) => {
      const filter = userReference === undefined ? {} : { userReference };
      const reply = await onboarding.listDWallets({ ...filter, pageToken }, { signal });
      return { items: reply.dwallets, nextPageToken: reply.nextPageToken };
    },
    [userReference],
    { everyMs: 15_000 },
  );
  return (
    <>
      <Loaded call={dwallets} lines={6}>
        {({ items }) => (
          <DataTable
            caption="dWallets"
            columns={COLUMNS}
            rows={items}
            rowKey={({ dwalletId, sessionDigest }) => dwalletId || sessionDigest.join()}
            empty={<Empty title="No dWallets yet">The client's `onboard` creates one.</Empty>}
          />
        )}
      </Loaded>
      <Pager pages={dwallets} of="dWallets" />
    </>
  );
}

const COLUMNS: readonly DataColumn<DWallet>[] = [
  {
    title: "dWallet",
    cell: ({ dwalletId, name }) => (
      <>
        {name !== undefined && <span class="wrap">{name} </span>}
        {dwalletId === "" ? (
          <span class="muted">not on the chain yet</span>
        ) : (
          <Id id={dwalletId} what="dWallet id" href={`#/dwallets/${dwalletId}`} />
        )}
      </>
    ),
  },
  { title: "Curve", cell: ({ curve }) => enumName(CurveSchema, curve) },
  { title: "State", cell: ({ state }) => <DWalletBadge state={state} /> },
  {
    title: "Address",
    cell: (dwallet) => {
      const [first] = addressesOf(dwallet);
      if (first === undefined) return <span class="muted">—</span>;
      return (
        <>
          <span class="muted">{addressNames[first.kind]}</span>{" "}
          <Id id={first.address} what={`${addressNames[first.kind]} address`} />
        </>
      );
    },
  },
];
