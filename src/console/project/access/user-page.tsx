import type { JSX } from "preact";
import { useState } from "preact/hooks";
import type { AccountKey } from "../../../../gen/client/tss/v1/account_pb.ts";
import type { Allowance } from "../../../../gen/client/tss/v1/allowance_pb.ts";
import { useSession } from "../../api/session.ts";
import { useCall } from "../../api/use-call.ts";
import { apiKeyColumns } from "../../api-keys/api-key-columns.tsx";
import { Empty } from "../../design/empty.tsx";
import { Loaded } from "../../design/loaded.tsx";
import { PageFrame } from "../../design/page-frame.tsx";
import { Panel } from "../../design/panel.tsx";
import { DataTable } from "../../design/table/data-table.tsx";
import { Facts } from "../../design/value/facts.tsx";
import { Time } from "../../design/value/time.tsx";
import type { PageProps } from "../../route.ts";
import { UserBadge } from "../../signing/state-badges.tsx";
import { UsageStats } from "../money/usage-stats.tsx";
import { DWalletsList } from "../signing/dwallets-list.tsx";
import { SignRequestsPanel } from "../signing/sign-requests-panel.tsx";
import { SessionsPanel } from "./sessions-panel.tsx";
import { DeleteUserDialog, FreezeUserDialog } from "./user-dialogs.tsx";
import { UserActions } from "./users-page.tsx";

/** A user of the project with everything that belongs to it. */
export function UserPage({ id: reference }: PageProps): JSX.Element {
  const { users } = useSession();
  const [open, setOpen] = useState<"freeze" | "delete">();
  const user = useCall((signal) => users.getUser({ reference }, { signal }), [reference], {
    everyMs: 10_000,
  });
  const { data, failure } = user;
  if (failure?.reason === "USER_NOT_FOUND") {
    return (
      <PageFrame title="No such user" up={ALL}>
        <Empty title="The project has no user with this reference, or has deleted it">
          <code class="wrap spaces">{reference}</code>
        </Empty>
      </PageFrame>
    );
  }
  const close = (): void => setOpen(undefined);
  const done = (): void => {
    close();
    user.reload();
  };
  return (
    <PageFrame title={reference} up={ALL} actions={data && <UserActions user={data} onOpen={setOpen} />}>
      <section class="panel" aria-label="State">
        <Loaded call={user} lines={2}>
          {(found) => (
            <Facts
              facts={[
                ["State", <UserBadge of={found} />],
                ["First seen", <Time of={found.createTime} />],
                ["Frozen", found.freezeTime && <Time of={found.freezeTime} />],
              ]}
            />
          )}
        </Loaded>
      </section>
      {data !== undefined && (
        <>
          <UsagePanel userReference={reference} />
          <Panel title="dWallets" note="Newest first.">
            <DWalletsList userReference={reference} />
          </Panel>
          <SessionsPanel userReference={reference} />
          <KeysPanel userReference={reference} />
          <SignRequestsPanel userReference={reference} />
        </>
      )}
      {open === "freeze" && data && <FreezeUserDialog user={data} onClose={close} onDone={done} />}
      {open === "delete" && data && <DeleteUserDialog user={data} onClose={close} onDone={done} />}
    </PageFrame>
  );
}

const ALL = { href: "#/users", title: "All users" };

/** What the user used in the last 30 days. */
function UsagePanel({ userReference }: { readonly userReference: string }): JSX.Element {
  const { billing } = useSession();
  const usage = useCall((signal) => billing.getUsage({ userReference }, { signal }), [userReference], {
    everyMs: 30_000,
  });
  return (
    <Panel
      title="Usage"
      note="The last 30 days (UTC). A charge counts when it is booked, and so does its refund."
    >
      <Loaded call={usage} lines={2}>
        {({ total }) => <UsageStats total={total} />}
      </Loaded>
    </Panel>
  );
}

/**
 * The narrow keys that can act for the user: they name it, or no user. The service lists keys of the whole project, so
 * the page selects them.
 */
function KeysPanel({ userReference }: { readonly userReference: string }): JSX.Element {
  const { account } = useSession();
  const keys = useCall((signal) => account.listAccountKeys({ pageSize: KEYS_MAX_COUNT }, { signal }), [], {
    everyMs: 15_000,
  });
  return (
    <Panel
      title="Keys"
      note={
        keys.data?.nextPageToken
          ? `Narrow keys that name this user or no user, among the newest ${KEYS_MAX_COUNT} keys of the project.`
          : "Narrow keys that name this user or no user. A key without limits acts for every user."
      }
    >
      <Loaded call={keys}>
        {({ accountKeys }) => (
          <DataTable
            caption="Keys"
            columns={COLUMNS}
            rows={accountKeys.filter(({ allowance }) => isFor(userReference, allowance))}
            rowKey={({ apiKeyId }) => apiKeyId}
            empty={<Empty title="No narrow keys" />}
          />
        )}
      </Loaded>
    </Panel>
  );
}

/** An allowance without users is not limited to some: its dWallets, algorithms or budget can be the user's. */
function isFor(userReference: string, allowance: Allowance | undefined): boolean {
  if (allowance === undefined) return false;
  const { userReferences } = allowance;
  return userReferences.length === 0 || userReferences.includes(userReference);
}

/** The largest page of the service. */
const KEYS_MAX_COUNT = 200;
const COLUMNS = apiKeyColumns<AccountKey>(({ scopes }) => scopes);
