import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { User } from "../../../../gen/client/tss/v1/users_pb.ts";
import { isOneOf, useUrlFilter } from "../../address/use-url-filter.ts";
import { useSession } from "../../api/session.ts";
import { usePages } from "../../api/use-pages.ts";
import { Empty } from "../../design/empty.tsx";
import { SelectField } from "../../design/form/field.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Time } from "../../design/value/time.tsx";
import { plainTime } from "../../format/text.ts";
import { UserBadge } from "../../signing/state-badges.tsx";
import { ReferenceFilter } from "../reference-filter.tsx";
import { DeleteUserDialog, FreezeUserDialog } from "./user-dialogs.tsx";
import { UserLink } from "./user-link.tsx";

/** The project's users, who can be frozen and deleted here. */
export function UsersPage(): JSX.Element {
  const { users: client } = useSession();
  const [state, setState] = useUrlFilter("state", "", isOneOf(STATES));
  const [wanted, setWanted] = useUrlFilter("prefix", "");
  const [open, setOpen] = useState<OpenDialog>();
  const users = usePages(
    "users",
    async (at, signal) => {
      const filter = {
        ...(wanted !== "" && { referencePrefix: wanted }),
        ...(state !== "" && { frozen: state === "frozen" }),
      };
      const reply = await client.listUsers({ ...filter, ...at }, { signal });
      return { items: reply.users, nextPageToken: reply.nextPageToken };
    },
    [wanted, state],
    { everyMs: 10_000 },
  );
  const close = (): void => setOpen(undefined);
  const done = (): void => {
    close();
    users.reload();
  };
  return (
    <PageFrame
      title="Users"
      lead="By the project’s own references. A user exists from the first call that names it."
    >
      <section class="panel" aria-label="Users">
        <ListTable
          caption="Users"
          columns={[
            ...COLUMNS,
            {
              title: "Actions",
              cell: (user) => <UserActions user={user} isSmall onOpen={(kind) => setOpen({ kind, user })} />,
            },
          ]}
          rowKey={({ reference }) => reference}
          empty={
            <Empty title="No users">
              {wanted === "" && state === ""
                ? "A dWallet, an encryption key or a deposit address for a user makes one."
                : "No user fits the filter."}
            </Empty>
          }
          pages={users}
          lines={6}
          filter={
            <ReferenceFilter wanted={wanted} onFilter={setWanted}>
              <SelectField label="State" options={STATES} value={state} onSelect={setState} />
            </ReferenceFilter>
          }
        />
      </section>
      {open?.kind === "freeze" && <FreezeUserDialog user={open.user} onClose={close} onDone={done} />}
      {open?.kind === "delete" && <DeleteUserDialog user={open.user} onClose={close} onDone={done} />}
    </PageFrame>
  );
}

interface OpenDialog {
  readonly kind: "freeze" | "delete";
  readonly user: User;
}

const STATES = [
  ["", "all"],
  ["active", "active"],
  ["frozen", "frozen"],
] as const;

const COLUMNS: readonly DataColumn<User>[] = [
  {
    title: "User",
    cell: ({ reference }) => <UserLink reference={reference} />,
    text: ({ reference }) => reference,
  },
  {
    title: "State",
    cell: (user) => <UserBadge of={user} />,
    text: ({ freezeTime }) => (freezeTime === undefined ? "active" : "frozen"),
  },
  {
    title: "First seen",
    cell: ({ createTime }) => <Time of={createTime} />,
    text: ({ createTime }) => plainTime(createTime),
  },
];

/** The buttons that change a user. */
export function UserActions({ user, onOpen, isSmall = false }: UserActionsProps): JSX.Element {
  const { reference, freezeTime } = user;
  const size = isSmall ? " button-small" : "";
  return (
    <span class="row-actions">
      <button type="button" class={`button${size}`} onClick={() => onOpen("freeze")}>
        {freezeTime === undefined ? "Freeze" : "Unfreeze"}
        <span class="visually-hidden"> the user {reference}</span>
      </button>
      <button type="button" class={`button button-danger${size}`} onClick={() => onOpen("delete")}>
        Delete<span class="visually-hidden"> the user {reference}</span>
      </button>
    </span>
  );
}

interface UserActionsProps {
  readonly user: User;
  /** True in a row of a table. */
  readonly isSmall?: boolean;
  onOpen(kind: OpenDialog["kind"]): void;
}
