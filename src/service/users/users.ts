import sql, { type Sql } from "sql-template-tag";
import { type AuditOrigin, auditInsert, writeAuditEvent } from "../audit/audit-event.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { boolean, type Columns, nullable, text, time } from "../platform/store/columns.ts";
import {
  type Database,
  execute,
  type Queryable,
  readRows,
  type Transactor,
} from "../platform/store/database.ts";
import { type Page, type PageRequest, readPage } from "../platform/store/read-page.ts";
import { endSessions } from "./end-sessions.ts";
import { ensureUser, type UserName } from "./ensure-user.ts";

/** A user that was not deleted. */
export interface UserRow {
  readonly reference: string;
  readonly createdAt: Date;
  readonly frozenAt: Date | null;
}

/** Makes a user, or returns the existing one. Throws USER_DELETED and TOO_MANY_USERS. */
export function createUser(
  database: Database,
  caller: UsersCaller,
  reference: string,
  maxCount: number,
): Promise<UserRow> {
  const { projectId, origin } = caller;
  return database.transaction(async (db) => {
    const { isNew } = await ensureUser(db, { projectId, reference }, maxCount);
    if (isNew) await writeAuditEvent(db, origin, { projectId, action: "user.create", subject: reference });
    return await readUser(db, { projectId, reference });
  });
}

/** A project's caller that changes users. */
export interface UsersCaller {
  readonly projectId: string;
  readonly origin: AuditOrigin;
}

/** Reads a user. Throws USER_NOT_FOUND, also for a deleted one. */
export async function readUser(db: Queryable, { projectId, reference }: UserName): Promise<UserRow> {
  const [row] = await readRows(
    db,
    sql`SELECT ${SELECTED} FROM project_user u
        WHERE project_id = ${projectId} AND reference = ${reference} AND deleted_at IS NULL`,
    USER,
  );
  if (row !== undefined) return row;
  throw userNotFound(reference);
}

function userNotFound(reference: string): ServiceError {
  return new ServiceError("USER_NOT_FOUND", "the project has no user with this reference", {
    metadata: { reference },
  });
}

const SELECTED = sql`u.reference, u.created_at AS "createdAt", u.frozen_at AS "frozenAt"`;
const USER: Columns<UserRow> = { reference: text, createdAt: time, frozenAt: nullable(time) };

/** Reads a page of the project's users, sorted by the bytes of the reference. Throws VALIDATION for another list's token. */
export function listUsers(
  db: Queryable,
  projectId: string,
  { referencePrefix: prefix = "", frozen, ...request }: ListUsersInput,
): Promise<Page<UserRow>> {
  const which =
    frozen === undefined ? sql`` : frozen ? sql`AND frozen_at IS NOT NULL` : sql`AND frozen_at IS NULL`;
  return readPage(request, {
    scope: ["user", projectId, prefix, String(frozen ?? "")],
    positionOf: ({ reference }) => reference,
    position: REFERENCE,
    read: (after = "", count) =>
      readRows(
        db,
        sql`SELECT ${SELECTED} FROM project_user u
            WHERE project_id = ${projectId} AND reference > ${after} AND reference >= ${prefix}
              AND reference < ${prefix}::text || ${ABOVE} AND deleted_at IS NULL ${which}
            ORDER BY reference LIMIT ${count}`,
        USER,
      ),
  });
}

/** A filter for users, and a page of the result. */
export interface ListUsersInput extends PageRequest {
  /** References that begin with this text. Undefined means all. */
  readonly referencePrefix?: string | undefined;
  /** Undefined means both. */
  readonly frozen?: boolean | undefined;
}

const REFERENCE = /^[ -~]{1,128}$/;
/** Sorts after every printable ASCII character, because the column is collated by bytes. */
const ABOVE = "\x7f";

/**
 * Freezes a user. The statement waits for those that hold the user's row FOR SHARE: what they make, accept, reserve or
 * submit comes before the freeze, and everything later is refused. Throws USER_NOT_FOUND.
 */
export async function freezeUser(db: Queryable, caller: UsersCaller, reference: string): Promise<UserRow> {
  return await setFrozen(db, caller, reference, {
    action: "user.freeze",
    to: sql`now()`,
    from: sql`frozen_at IS NULL`,
  });
}

/** Lets a frozen user continue. Throws USER_NOT_FOUND. */
export async function unfreezeUser(db: Queryable, caller: UsersCaller, reference: string): Promise<UserRow> {
  return await setFrozen(db, caller, reference, {
    action: "user.unfreeze",
    to: sql`NULL`,
    from: sql`frozen_at IS NOT NULL`,
  });
}

async function setFrozen(
  db: Queryable,
  { projectId, origin }: UsersCaller,
  reference: string,
  { action, to, from }: { readonly action: string; readonly to: Sql; readonly from: Sql },
): Promise<UserRow> {
  const [changed] = await readRows(
    db,
    sql`WITH u AS (
          UPDATE project_user SET frozen_at = ${to}
          WHERE project_id = ${projectId} AND reference = ${reference} AND deleted_at IS NULL AND ${from}
          RETURNING project_id, reference AS id, reference, created_at, frozen_at
        ), audited AS (${auditInsert(action, sql`u`, origin)})
        SELECT ${SELECTED} FROM u`,
    USER,
  );
  return changed ?? (await readUser(db, { projectId, reference }));
}

/**
 * Deletes a user and ends its sessions, once. The row stays, so that the reference is never used again. Returns the ids
 * of the ended sessions, which the look-up must forget after the commit. Throws USER_NOT_FOUND, and WRONG_STATE while a
 * dWallet of the user is in the service.
 */
export function deleteUser(
  database: Transactor,
  { projectId, origin }: UsersCaller,
  reference: string,
): Promise<readonly string[]> {
  return database.transaction(async (db) => {
    // Whoever makes a dWallet for the user locks this row first, and the next statement sees what they made.
    const [user] = await readRows(
      db,
      sql`SELECT deleted_at IS NOT NULL AS "isDeleted" FROM project_user
          WHERE project_id = ${projectId} AND reference = ${reference} FOR UPDATE`,
      { isDeleted: boolean },
    );
    if (user === undefined) throw userNotFound(reference);
    if (user.isDeleted) return [];
    const [held] = await readRows(
      db,
      sql`SELECT state FROM dwallet WHERE project_id = ${projectId} AND user_reference = ${reference}
            AND state NOT IN ('Left', 'Failed', 'NetworkRejectedDKGVerification') LIMIT 1`,
      { state: text },
    );
    if (held !== undefined) {
      throw new ServiceError(
        "WRONG_STATE",
        "the user has a dWallet in the service; freeze the user, or let the owner take the dWallet out first",
        { metadata: { state: held.state } },
      );
    }
    await execute(
      db,
      sql`UPDATE project_user SET deleted_at = now() WHERE project_id = ${projectId} AND reference = ${reference}`,
    );
    await execute(
      db,
      sql`DELETE FROM encryption_key_user WHERE project_id = ${projectId} AND reference = ${reference}`,
    );
    await writeAuditEvent(db, origin, { projectId, action: "user.delete", subject: reference });
    return await endSessions(db, { projectId, origin }, sql`s.user_reference = ${reference}`);
  });
}
