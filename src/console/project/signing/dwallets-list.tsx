import type { JSX } from "preact";
import { type DWallet, DWallet_StateSchema } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import { CurveSchema } from "../../../../gen/client/tss/v1/types_pb.ts";
import { useSession } from "../../api/session.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Cut } from "../../design/value/cut.tsx";
import { Id } from "../../design/value/id.tsx";
import { enumName } from "../../format/text.ts";
import { DWalletBadge } from "../../signing/state-badges.tsx";
import { addressesOf, addressNames } from "../money/references-panel.tsx";

/** The project's dWallets, or those of one user. */
export function DWalletsList({ userReference }: { readonly userReference?: string }): JSX.Element {
  const { onboarding } = useSession();
  const dwallets = usePages(
    "dwallets",
    async (at, signal) => {
      const filter = userReference === undefined ? {} : { userReference };
      const reply = await onboarding.listDWallets({ ...filter, ...at }, { signal });
      return { items: reply.dwallets, nextPageToken: reply.nextPageToken };
    },
    [userReference],
    { everyMs: 15_000 },
  );
  return (
    <ListTable
      caption="dWallets"
      columns={COLUMNS}
      rowKey={({ dwalletId, sessionDigest }) => dwalletId || sessionDigest.join()}
      empty={<Empty title="No dWallets yet">The client's `onboard` creates one.</Empty>}
      pages={dwallets}
      lines={6}
    />
  );
}

const COLUMNS: readonly DataColumn<DWallet>[] = [
  {
    title: "dWallet",
    cell: ({ dwalletId, name }) => (
      <>
        {name !== undefined && (
          <div>
            <Cut text={name} />
          </div>
        )}
        {dwalletId === "" ? (
          <span class="muted">not on the chain yet</span>
        ) : (
          <Id id={dwalletId} what="dWallet id" href={`#/dwallets/${dwalletId}`} />
        )}
      </>
    ),
    text: ({ dwalletId }) => dwalletId,
  },
  {
    title: "Curve",
    cell: ({ curve }) => enumName(CurveSchema, curve),
    text: ({ curve }) => enumName(CurveSchema, curve),
  },
  {
    title: "State",
    cell: ({ state }) => <DWalletBadge state={state} />,
    text: ({ state }) => enumName(DWallet_StateSchema, state),
  },
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
    text: (dwallet) => addressesOf(dwallet)[0]?.address ?? "",
  },
];
