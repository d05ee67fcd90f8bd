import sql from "sql-template-tag";
import type { ProjectCaller } from "../access/caller.ts";
import { type AuditOrigin, auditInsert, writeAuditEvent } from "../audit/audit-event.ts";
import { text } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";
import { isOf, readSession, type SessionDetails, type SessionOwner } from "./session-row.ts";
import type { SessionDeps } from "./sessions.ts";

/**
 * Ends a session of the caller's users. A repeated call has no effect. This process refuses the session at once, others
 * when they receive the signal, at the latest after a few seconds. Throws SESSION_NOT_FOUND.
 */
export async function revokeSession(
  { database, lookup }: SessionDeps,
  caller: ProjectCaller,
  sessionId: string,
): Promise<SessionDetails> {
  await endSessions(database, caller, sql`s.id = ${sessionId}`);
  const session = await readSession(database, caller, sessionId);
  // Uses the row's id, because a caller may write a UUID in capitals.
  lookup.forget(session.id);
  return session;
}

/**
 * Ends all sessions of one of the caller's users, as {@link revokeSession} does, and refuses the user's ID tokens that
 * were issued before: whoever has one could exchange it for another session. Returns the number of sessions.
 */
export async function revokeUserSessions(
  { database, lookup }: SessionDeps,
  caller: ProjectCaller,
  userReference: string,
): Promise<number> {
  const { projectId, allowance } = caller;
  const ended = await database.transaction(async (db) => {
    // Waits for exchanges that have locked the user's row. The next statement sees their sessions.
    const isKnown =
      (allowance?.userReferences?.includes(userReference) ?? true) &&
      (await execute(
        db,
        sql`UPDATE project_user SET sessions_ended_at = clock_timestamp()
            WHERE project_id = ${projectId} AND reference = ${userReference} RETURNING reference`,
      )) > 0;
    const ids = await endSessions(
      db,
      caller,
      sql`s.user_reference = ${userReference} AND s.expires_at > clock_timestamp()`,
    );
    // Each ended session has an event. Without one, this says that older ID tokens are refused.
    if (isKnown && ids.length === 0)
      await writeAuditEvent(db, caller.origin, {
        projectId,
        action: "user.end_sessions",
        subject: userReference,
      });
    return ids;
  });
  for (const id of ended) lookup.forget(id);
  return ended.length;
}

/** Ends the caller's sessions that meet a condition on the table `session`, with the alias `s`. Returns their ids. */
export async function endSessions(
  db: Queryable,
  caller: SessionOwner & Pick<ProjectCaller, "origin">,
  which: ReturnType<typeof sql>,
): Promise<string[]> {
  const rows = await readRows(
    db,
    sql`WITH revoked AS (
          UPDATE session s SET revoked_at = now() WHERE ${isOf(caller)} AND ${which} AND s.revoked_at IS NULL
          RETURNING s.id, s.project_id
        ), noted AS (${auditInsert("session.revoke", sql`revoked`, caller.origin)})
        SELECT id FROM revoked`,
    { id: text },
  );
  return rows.map(({ id }) => id);
}

/** Ends all sessions of a network's projects, in one statement. Returns their number. */
export function endSessionsOfNetwork(db: Queryable, network: string, origin: AuditOrigin): Promise<number> {
  return execute(
    db,
    sql`WITH revoked AS (
          UPDATE session s SET revoked_at = now() FROM project p
          WHERE p.id = s.project_id AND p.network = ${network} AND s.revoked_at IS NULL
            AND s.expires_at > clock_timestamp()
          RETURNING s.id, s.project_id
        ), noted AS (${auditInsert("session.revoke", sql`revoked`, origin)})
        SELECT id FROM revoked`,
  );
}
