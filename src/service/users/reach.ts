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
 * The same condition as {@link withinReach}, for a caller of the project in the row `asked` of a statement, which has the
 * columns {@link reachColumns}.
 */
export function withinReachOf(asked: Sql, projectId: string, d: Sql): Sql {
  return sql`${d}.project_id = ${projectId}::uuid
    AND (${asked}.reach_users IS NULL OR ${d}.user_reference = ANY(${asked}.reach_users))
    AND (${asked}.reach_dwallets IS NULL OR ${d}.object_id = ANY(${asked}.reach_dwallets))`;
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
