import { createHash } from "node:crypto";
import sql, { type Sql } from "sql-template-tag";
import type { Prisma } from "../../../gen/prisma/client.ts";
import { type Confinement, isConfined } from "../access/allowances/allowance.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";

/** A caller of a project, as far as it says what the caller sees of the project. */
export interface Reaching {
  readonly projectId: string;
  /** Undefined for a caller that sees the whole project. */
  readonly allowance?: Confinement | undefined;
}

/**
 * Returns the condition that a dWallet is the project's and within the caller's reach. The users of dWallets never
 * change, so the answer holds for good.
 *
 * @param d the dWallet's name in the statement
 */
export function withinReach({ projectId, allowance }: Reaching, d: Sql): Sql {
  const { userReferences: users, dwalletIds } = allowance ?? {};
  const ofUsers = users === undefined ? sql`` : sql` AND ${d}.user_reference = ANY(${users}::text[])`;
  const named = dwalletIds === undefined ? sql`` : sql` AND ${d}.object_id = ANY(${dwalletIds}::text[])`;
  return sql`${d}.project_id = ${projectId}::uuid${ofUsers}${named}`;
}

/**
 * Returns the condition that the caller may sign with a dWallet: it is within the caller's reach, or a user that the caller
 * is confined to holds a share of it. The caller is that of the row `asked` of a statement, which has the columns
 * {@link reachColumns}. Owners add and remove holders, so the answer is that of the statement.
 */
export function withinUseOf(asked: Sql, projectId: string, d: Sql): Sql {
  return sql`${d}.project_id = ${projectId}::uuid
    AND (${isOfOwner(asked, d)} OR ${activeHolders(d)} && ${asked}.reach_users)
    AND (${asked}.reach_dwallets IS NULL OR ${d}.object_id = ANY(${asked}.reach_dwallets))`;
}

/**
 * Returns an expression of type `text[]`: the users besides its own who may sign with a dWallet, without those that are
 * frozen. Most dWallets have none, and the expression then reads nothing.
 *
 * @param d the dWallet's name in the statement
 */
export function activeHolders(d: Sql): Sql {
  return sql`CASE WHEN cardinality(${d}.holder_users) = 0 THEN ${d}.holder_users ELSE ARRAY(
      SELECT u.reference FROM project_user u WHERE u.project_id = ${d}.project_id AND u.reference = ANY(${d}.holder_users)
        AND u.frozen_at IS NULL AND u.deleted_at IS NULL) END`;
}

/** Returns the condition that a caller that {@link withinUseOf} allows is not the owner of the dWallet `d`, but a holder. */
export function isOfHolder(asked: Sql, d: Sql): Sql {
  return sql`${isOfOwner(asked, d)} IS NOT TRUE`;
}

/** The condition is null for a dWallet without a user. */
function isOfOwner(asked: Sql, d: Sql): Sql {
  return sql`(${asked}.reach_users IS NULL OR ${d}.user_reference = ANY(${asked}.reach_users))`;
}

/**
 * Returns a query for the `request_id` of each request of a holder that may still sign. Until the statement's transaction
 * ends, it locks the rows of the holders' users FOR SHARE, and those of the dWallets FOR KEY SHARE. A RemoveHolder,
 * which locks the dWallet FOR UPDATE, or a FreezeUser that comes later waits. The query sees one that came earlier. Other changes of the
 * dWallet do not wait: whoever records that it has left may hold the project's row, which a submission takes last.
 *
 * @param requests a common table expression with the columns `request_id`, `dwallet_id`, `reach_users` and `is_of_holder`
 */
export function activeHoldersOf(requests: Sql): Sql {
  return sql`SELECT s.request_id FROM ${requests} s JOIN dwallet d ON d.id = s.dwallet_id
    JOIN project_user u ON u.project_id = d.project_id AND u.reference = ANY(d.holder_users)
      AND u.reference = ANY(s.reach_users)
    WHERE s.is_of_holder AND u.frozen_at IS NULL AND u.deleted_at IS NULL FOR KEY SHARE OF d FOR SHARE OF u`;
}

/** The same condition as {@link withinUseOf}, for a row that was found in any project. */
export function isWithinUse(caller: Reaching, dwallet: UsableDWallet): boolean {
  if (isWithinReach(caller, dwallet)) return true;
  const users = caller.allowance?.userReferences;
  if (users === undefined) return false;
  return dwallet.activeHolders.some(
    (user) => users.includes(user) && isWithinReach(caller, { ...dwallet, userReference: user }),
  );
}

/** A dWallet, with what {@link activeHolders} returns. */
export interface UsableDWallet {
  readonly projectId: string;
  readonly userReference: string | null;
  readonly objectId: string | null;
  readonly activeHolders: readonly string[];
}

/** Returns the values of the columns `reach_users` and `reach_dwallets`, of type `text[]`, which are null without a limit. */
export function reachColumns({ allowance }: Pick<Reaching, "allowance">): ReachColumns {
  return { reach_users: allowance?.userReferences, reach_dwallets: allowance?.dwalletIds };
}

/** A column without a value is null. */
interface ReachColumns {
  readonly reach_users: readonly string[] | undefined;
  readonly reach_dwallets: readonly string[] | undefined;
}

/** The same condition as {@link withinReach}, for Prisma. */
export function whereWithinReach({ projectId, allowance }: Reaching): Prisma.DWalletWhereInput {
  const { userReferences: users, dwalletIds } = allowance ?? {};
  return {
    projectId,
    AND: [
      users === undefined ? {} : { userReference: { in: [...users] } },
      dwalletIds === undefined ? {} : { objectId: { in: [...dwalletIds] } },
    ],
  };
}

/** The same condition as {@link withinReach}, for a row that was found in any project. */
export function isWithinReach(
  { projectId, allowance }: Reaching,
  dwallet: {
    readonly projectId: string;
    readonly userReference: string | null;
    readonly objectId: string | null;
  },
): boolean {
  const { userReferences: users, dwalletIds } = allowance ?? {};
  return (
    dwallet.projectId === projectId &&
    (users === undefined || (dwallet.userReference !== null && users.includes(dwallet.userReference))) &&
    (dwalletIds === undefined || (dwallet.objectId !== null && dwalletIds.includes(dwallet.objectId)))
  );
}

/**
 * Returns a text that differs between callers with a different reach, for the scope of their idempotency keys and page
 * tokens. It is the project's id for a caller that sees the whole project.
 */
export function reachScope({ projectId, allowance }: Reaching): string {
  if (allowance === undefined || !isConfined(allowance)) return projectId;
  const { userReferences = null, dwalletIds = null } = allowance;
  const sorted = [userReferences, dwalletIds].map((list) => list && [...list].sort());
  return `${projectId}/${createHash("sha256").update(JSON.stringify(sorted)).digest("hex").slice(0, 32)}`;
}

/**
 * Returns the user that a caller makes something for: the named one, the only one that the caller is confined to, or
 * undefined for none. Throws OUT_OF_REACH for another user and for a caller that is confined to dWallets, and VALIDATION
 * if the caller has to name one of several users.
 */
export function userToMakeFor({ allowance }: Reaching, named: string | undefined): string | undefined {
  const { userReferences: users, dwalletIds } = allowance ?? {};
  if (dwalletIds !== undefined)
    throw new ServiceError("OUT_OF_REACH", "the caller is confined to dWallets and cannot make any");
  if (users === undefined) return named;
  if (named === undefined) return onlyUser(users);
  if (users.includes(named)) return named;
  throw new ServiceError("OUT_OF_REACH", "user_reference: is not a user that the caller may act for");
}

/**
 * Returns the user whose dWallets a list shows: null for those without a user, and undefined for all. An empty reference
 * means what the caller makes if it names no user. Throws VALIDATION if the caller has to name one of several users.
 */
export function userToList({ allowance }: Reaching, named: string | undefined): string | null | undefined {
  if (named !== "") return named;
  return allowance?.userReferences === undefined ? null : onlyUser(allowance.userReferences);
}

function onlyUser(users: readonly string[]): string {
  const [only, ...others] = users;
  if (only !== undefined && others.length === 0) return only;
  throw invalidField("user_reference", "must name one of the users that the caller is confined to");
}
