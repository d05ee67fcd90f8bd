import { timestampDate } from "@bufbuild/protobuf/wkt";
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { type Session, Session_ScopeSchema } from "../../../../gen/client/tss/v1/sessions_pb.ts";
import { useSession } from "../../api/session.ts";
import { usePages } from "../../api/use-pages.ts";
import { KeyState, keyStateText } from "../../api-keys/api-key-columns.tsx";
import { KeyLimits, type LimitedKey } from "../../api-keys/key-limits.tsx";
import { Empty } from "../../design/empty.tsx";
import { ActionDialog } from "../../design/form/dialog.tsx";
import { Panel } from "../../design/panel.tsx";
import type { DataColumn } from "../../design/table/data-table.tsx";
import { ListTable } from "../../design/table/list-table.tsx";
import { Id } from "../../design/value/id.tsx";
import { Time } from "../../design/value/time.tsx";
import { enumName, plainTime, shortId } from "../../format/text.ts";
import { UserLink } from "./user-link.tsx";

/** The sessions of the project or of one user, which can be ended here. */
export function SessionsPanel({ userReference }: { readonly userReference?: string }): JSX.Element {
  const { sessions: client } = useSession();
  const [ending, setEnding] = useState<Session>();
  const sessions = usePages(
    "sessions",
    async (at, signal) => {
      const filter = userReference === undefined ? {} : { userReference };
      const reply = await client.listSessions({ ...filter, ...at }, { signal });
      return { items: reply.sessions, nextPageToken: reply.nextPageToken };
    },
    [userReference],
    { everyMs: 10_000 },
  );
  const columns = userReference === undefined ? [USER, ...COLUMNS] : COLUMNS;
  return (
    <Panel
      title="Sessions"
      note="Newest first, including ended ones of the last day."
      isNamedByPage={userReference === undefined}
    >
      <ListTable
        caption="Sessions"
        columns={[
          ...columns,
          {
            title: "Actions",
            cell: (session) => <SessionActions session={session} onRevoke={() => setEnding(session)} />,
          },
        ]}
        rowKey={({ sessionId }) => sessionId}
        empty={<Empty title="No sessions">CreateSession and a token exchange create one.</Empty>}
        pages={sessions}
        lines={6}
      />
      {ending !== undefined && (
        <RevokeSessionDialog
          session={ending}
          onClose={() => setEnding(undefined)}
          onRevoked={() => {
            setEnding(undefined);
            sessions.reload();
          }}
        />
      )}
    </Panel>
  );
}

const USER: DataColumn<Session> = {
  title: "User",
  cell: ({ userReference }) => <UserLink reference={userReference} />,
  text: ({ userReference }) => userReference,
};

const COLUMNS: readonly DataColumn<Session>[] = [
  {
    title: "Session",
    cell: ({ sessionId }) => <Id id={sessionId} what="session id" />,
    text: ({ sessionId }) => sessionId,
  },
  { title: "State", cell: (session) => <KeyState of={session} isShortLived />, text: keyStateText },
  {
    title: "Scopes",
    cell: ({ scopes }) => scopesText(scopes),
    text: ({ scopes }) => scopesText(scopes),
  },
  { title: "Callers", cell: (session) => <SessionCallers of={session} /> },
  { title: "Limits", cell: (session) => <KeyLimits of={limitsOf(session)} /> },
  {
    title: "Last use",
    cell: ({ lastUseTime }) => <Time of={lastUseTime} otherwise="never" />,
    text: ({ lastUseTime }) => plainTime(lastUseTime),
  },
];

const scopesText = (scopes: Session["scopes"]): string =>
  scopes.map((scope) => enumName(Session_ScopeSchema, scope)).join(", ");

/** The pages and devices that may use a session, a line each. */
function SessionCallers({ of: { origins, proofKeyThumbprint } }: SessionCallersProps): JSX.Element {
  return (
    <ul class="plain-list">
      <li>{origins.length === 0 ? <span class="muted">no page</span> : `pages of ${origins.join(", ")}`}</li>
      <li title={proofKeyThumbprint}>
        {proofKeyThumbprint === undefined ? <span class="muted">any device</span> : "one device"}
      </li>
    </ul>
  );
}

interface SessionCallersProps {
  readonly of: Session;
}

/** The limits beyond the session's user. */
function limitsOf({ allowance, budgetLeft }: Session): LimitedKey {
  const isLimited =
    allowance !== undefined &&
    (allowance.dwalletIds.length > 0 || allowance.algorithms.length > 0 || allowance.budget !== undefined);
  return isLimited ? { allowance: { ...allowance, userReferences: [] }, budgetLeft } : {};
}

function SessionActions({ session, onRevoke }: SessionActionsProps): JSX.Element | null {
  const { sessionId, revokeTime, expireTime } = session;
  const isOver = expireTime !== undefined && timestampDate(expireTime).getTime() <= Date.now();
  if (revokeTime !== undefined || isOver) return null;
  return (
    <button type="button" class="button button-small button-danger" onClick={onRevoke}>
      Revoke<span class="visually-hidden"> the session {shortId(sessionId)}</span>
    </button>
  );
}

interface SessionActionsProps {
  readonly session: Session;
  onRevoke(): void;
}

/** Asks for confirmation before a session ends, which cannot be undone. */
function RevokeSessionDialog({ session, onClose, onRevoked }: RevokeSessionDialogProps): JSX.Element {
  const { sessions } = useSession();
  const { sessionId, userReference, lastUseTime } = session;
  return (
    <ActionDialog
      title={`Revoke the session ${shortId(sessionId)}?`}
      action="Revoke the session"
      isDangerous
      onClose={onClose}
      onAct={async () => {
        await sessions.revokeSession({ sessionId });
        onRevoked();
      }}
    >
      <p>
        Every call with the session of <span class="wrap spaces">{userReference}</span> will fail, and its
        streams end. The user can begin another session. It was last used:{" "}
        <Time of={lastUseTime} otherwise="never" />.
      </p>
    </ActionDialog>
  );
}

interface RevokeSessionDialogProps {
  readonly session: Session;
  onClose(): void;
  onRevoked(): void;
}
