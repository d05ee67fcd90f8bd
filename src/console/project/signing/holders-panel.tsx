import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { DWallet } from "../../../../gen/client/tss/v1/onboarding_pb.ts";
import {
  type Holder,
  Holder_StateSchema,
  Holder_State as State,
} from "../../../../gen/client/tss/v1/sharing_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { Empty } from "../../design/empty.tsx";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { Panel } from "../../design/panel.tsx";
import { type DataColumn, DataTable } from "../../design/table/data-table.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { shortId } from "../../format/text.ts";
import { canRemove, holderKind } from "../../signing/holder-kind.ts";
import { HolderBadge } from "../../signing/state-badges.tsx";
import { UserLink } from "../access/user-link.tsx";

/** Who has a share of the dWallet besides its owner. A key that may can end a holder's use at this service. */
export function HoldersPanel({ dwallet }: HoldersPanelProps): JSX.Element {
  const { sharing, scopes } = useSession();
  const [removing, setRemoving] = useState<Holder>();
  const { dwalletId, userReference } = dwallet;
  const isAllowed = scopes === undefined || scopes.includes("onboard");
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
              columns={
                isAllowed ? [...columnsFor(userReference), removal(setRemoving)] : columnsFor(userReference)
              }
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
            {reply.holders.length > 0 && !isAllowed && (
              <p class="small muted">The key lacks the scope onboard, so it cannot remove a holder.</p>
            )}
          </>
        )}
      </Loaded>
      {removing !== undefined && (
        <RemoveDialog
          holder={removing}
          onClose={() => setRemoving(undefined)}
          onRemoved={() => {
            setRemoving(undefined);
            holders.reload();
          }}
        />
      )}
    </Panel>
  );
}

interface HoldersPanelProps {
  readonly dwallet: Pick<DWallet, "dwalletId" | "userReference">;
}

/** Asks for confirmation before a holder is removed, and says what that does and does not do. */
function RemoveDialog({ holder, onClose, onRemoved }: RemoveDialogProps): JSX.Element {
  const { sharing } = useSession();
  const { dwalletId, holderAddress, userReference } = holder;
  return (
    <ActionDialog
      title="Remove the holder?"
      action="Remove the holder"
      isDangerous
      confirmedBy={
        userReference === undefined
          ? { name: holderAddress.slice(-8), what: "end of the holder’s address" }
          : { name: userReference, what: "holder’s user" }
      }
      onClose={onClose}
      onAct={async () => {
        await sharing.removeHolder({ dwalletId, holderAddress });
        onRemoved();
      }}
    >
      <p>
        The holder is <span class="wrap spaces">{userReference ?? "a key of no user"}</span>, with the address{" "}
        <code class="wrap">{holderAddress}</code>.
      </p>
      <ul>
        <li>This service signs nothing more for the holder. Requests that were submitted before complete.</li>
        <li>A held half that the holder gave cannot be released any more.</li>
        <li>
          It takes no share back. The holder keeps a copy for good, and can sign wherever somebody else
          approves the dWallet’s messages.
        </li>
        <li>It cannot be undone. To let the holder in again, the owner shares the dWallet again.</li>
      </ul>
    </ActionDialog>
  );
}

interface RemoveDialogProps {
  readonly holder: Holder;
  onClose(): void;
  onRemoved(): void;
}

const removal = (onRemove: (holder: Holder) => void): DataColumn<Holder> => ({
  title: "Actions",
  cell: (holder) =>
    canRemove(holder) ? (
      <button type="button" class="button button-small button-danger" onClick={() => onRemove(holder)}>
        Remove
        <span class="visually-hidden">
          {" "}
          the holder {holder.userReference ?? shortId(holder.holderAddress)}
        </span>
      </button>
    ) : (
      <span class="muted">—</span>
    ),
});

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
