import type { JSX } from "preact";
import type { DWallet } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import {
  type Holder,
  Holder_StateSchema,
  Holder_State as State,
} from "../../../../gen/client/tss/v1/sharing_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { holderKind } from "../../signing/holder-kind.ts";
import { HolderBadge } from "../../signing/state-badges.tsx";
import { UserLink } from "../access/user-link.tsx";

/** Who has a share of the dWallet besides its owner, and what the removal of a holder does. */
export function HoldersPanel({ dwallet }: HoldersPanelProps): JSX.Element {
  const { sharing } = useSession();
  const { dwalletId, userReference } = dwallet;
  const holders = useCall((signal) => sharing.listHolders({ dwalletId }, { signal }), [dwalletId], {
    everyMs: 15_000,
  });
  return (
    <Panel title="Holders" note="Who has a share of this dWallet besides its owner, at most 50.">
      <Loaded call={holders}>
        {(reply) => (
          <>
            <DataTable
              caption="Holders"
              columns={columnsFor(userReference)}
              rows={reply.holders}
              rowKey={({ holderAddress, encryptedUserSecretKeyShareId, createTime }) =>
                `${holderAddress} ${encryptedUserSecretKeyShareId} ${createTime?.seconds}`
              }
              empty={
                <Empty title="No holders">
                  The owner alone has a share. Its client can share the dWallet.
                </Empty>
              }
            />
            {reply.holders.length > 0 && <Removal />}
          </>
        )}
      </Loaded>
    </Panel>
  );
}

interface HoldersPanelProps {
  readonly dwallet: Pick<DWallet, "dwalletId" | "userReference">;
}

function Removal(): JSX.Element {
  return (
    <details class="prose">
      <summary>What the removal of a holder does</summary>
      <ul>
        <li>This service signs nothing more for the holder. Requests that were submitted before complete.</li>
        <li>A held half that the holder gave cannot be released any more.</li>
        <li>
          It takes no share back. The holder keeps a copy for good, and can sign wherever somebody else
          approves the dWallet’s messages.
        </li>
        <li>The project’s backend removes a holder with the call RemoveHolder. The console does not.</li>
      </ul>
    </details>
  );
}

const columnsFor = (owner: string | undefined): readonly DataColumn<Holder>[] => [
  {
    title: "Holder",
    cell: ({ holderAddress, userReference }) =>
      userReference === undefined ? (
        <Id id={holderAddress} what="address of the holder’s key" />
      ) : (
        <UserLink reference={userReference} />
      ),
  },
  { title: "Kind", cell: (holder) => holderKind(holder, owner) },
  {
    title: "State",
    cell: ({ state }) => (
      <span title={Holder_StateSchema.value[state]?.name}>
        <HolderBadge state={state} />
      </span>
    ),
  },
  { title: "Shared", cell: ({ createTime }) => <Time of={createTime} /> },
  { title: "Since", cell: ({ acceptTime }) => (acceptTime === undefined ? "—" : <Time of={acceptTime} />) },
  {
    title: "Removed",
    cell: ({ state, removeTime }) => (state === State.Removed ? <Time of={removeTime} /> : "—"),
  },
  { title: "Key", cell: ({ holderAddress }) => <Id id={holderAddress} what="address of the holder’s key" /> },
];
