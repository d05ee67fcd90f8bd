import sql, { type Sql } from "sql-template-tag";
import { ServiceError } from "../platform/errors/service-error.ts";
import { boolean, nullable, number, time } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";

/** A user of a project. */
export interface UserName {
  readonly projectId: string;
  /** The project's own id of the user: 1 to 128 printable ASCII characters. */
  readonly reference: string;
}

/**
 * Makes sure that a user exists, and locks its row FOR SHARE until the transaction ends, so that the user is neither
 * frozen nor deleted meanwhile. Call it within a transaction. Throws USER_DELETED, and TOO_MANY_USERS for a new user
 * beyond the project's limit.
 */
export async function ensureUser(db: Queryable, user: UserName, maxCount: number): Promise<EnsuredUser> {
  const known = await lockUser(db, user);
  if (known !== undefined) return { ...known, isNew: false };
  const isNew = await insertUser(db, user, maxCount);
  const stored = await lockUser(db, user);
  if (stored === undefined) throw new Error("the user was not stored");
  return { ...stored, isNew };
}

/** The state of a user that exists. */
export interface EnsuredUser {
  readonly isFrozen: boolean;
  readonly isNew: boolean;
  /** When all sessions of the user were last ended at once; null if never. */
  readonly sessionsEndedAt: Date | null;
}

/** Does the same as {@link ensureUser}, and throws USER_FROZEN for a frozen user. */
export async function ensureActiveUser(
  db: Queryable,
  user: UserName,
  maxCount: number,
): Promise<EnsuredUser> {
  const ensured = await ensureUser(db, user, maxCount);
  if (ensured.isFrozen) throw userFrozen(user.reference);
  return ensured;
}

/** Throws USER_FROZEN if an existing user is frozen. Otherwise it cannot be frozen until the transaction ends. */
export async function refuseFrozenUser(db: Queryable, user: UserName): Promise<void> {
  if ((await lockUser(db, user))?.isFrozen) throw userFrozen(user.reference);
}

async function lockUser(db: Queryable, { projectId, reference }: UserName) {
  const [row] = await readRows(
    db,
    sql`SELECT frozen_at IS NOT NULL AS "isFrozen", deleted_at IS NOT NULL AS "isDeleted",
          sessions_ended_at AS "sessionsEndedAt" FROM project_user
        WHERE project_id = ${projectId} AND reference = ${reference} FOR SHARE`,
    { isFrozen: boolean, isDeleted: boolean, sessionsEndedAt: nullable(time) },
  );
  if (row?.isDeleted) throw userDeleted(reference);
  return row && { isFrozen: row.isFrozen, sessionsEndedAt: row.sessionsEndedAt };
}

/** Returns whether this call inserted the user. The lock on the project's count keeps the count exact. */
async function insertUser(
  db: Queryable,
  { projectId, reference }: UserName,
  maxCount: number,
): Promise<boolean> {
  const [counted] = await readRows(
    db,
    sql`INSERT INTO project_user_count AS c (project_id, count) VALUES (${projectId}::uuid, 0)
        ON CONFLICT (project_id) DO UPDATE SET count = c.count RETURNING count`,
    { count: number },
  );
  const insertedCount = await execute(
    db,
    sql`INSERT INTO project_user (project_id, reference) VALUES (${projectId}, ${reference})
        ON CONFLICT DO NOTHING RETURNING reference`,
  );
  if (insertedCount === 0) return false;
  if (counted === undefined || counted.count >= maxCount) {
    throw new ServiceError("TOO_MANY_USERS", `the project may have ${maxCount} users`, {
      metadata: { maxCount: String(maxCount) },
    });
  }
  await execute(
    db,
    sql`UPDATE project_user_count SET count = count + 1 WHERE project_id = ${projectId}::uuid`,
  );
  return true;
}

/**
 * Returns a query for the `reference` of each dWallet's user that is not frozen. It locks the users' rows FOR SHARE until
 * the statement's transaction ends, so a later FreezeUser waits for it, and an earlier one is seen.
 *
 * @param dwallets a common table expression with the columns `project_id` and `user_reference`
 */
export function activeUsersOf(dwallets: Sql): Sql {
  return sql`SELECT u.reference FROM ${dwallets} s
    JOIN project_user u ON u.project_id = s.project_id AND u.reference = s.user_reference
    WHERE u.frozen_at IS NULL FOR SHARE OF u`;
}

/**
 * Returns whether the user of a dWallet is frozen, as an expression without a lock.
 *
 * @param d the dWallet's name in the statement
 */
export function hasFrozenUser(d: Sql): Sql {
  return sql`EXISTS (SELECT FROM project_user u
    WHERE u.project_id = ${d}.project_id AND u.reference = ${d}.user_reference AND u.frozen_at IS NOT NULL)`;
}

/** Returns the error for a call that a frozen user's resources do not allow. */
export function userFrozen(reference: string): ServiceError {
  return new ServiceError("USER_FROZEN", "the user is frozen", { metadata: { reference } });
}

function userDeleted(reference: string): ServiceError {
  return new ServiceError("USER_DELETED", "the user was deleted, and its reference is never used again", {
    metadata: { reference },
  });
}
