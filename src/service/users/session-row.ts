import sql, { type Sql } from "sql-template-tag";
import type { Allowance } from "../access/allowances/allowance.ts";
import {
  ALLOWANCE_COLUMNS,
  type AllowanceRow,
  allowanceOf,
  BUDGET_LEFT_COLUMNS,
  type BudgetLeft,
  joinAllowance,
  joinBudgetLeft,
  SELECT_ALLOWANCE,
  SELECT_BUDGET_LEFT,
} from "../access/allowances/allowances.ts";
import { type ProjectCaller, SESSION_SCOPES, type SessionScope } from "../access/caller.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { type Columns, listOf, nullable, oneOf, text, time } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import {
  LAST_UUID,
  type Page,
  type PageRequest,
  readPage,
  UUID_POSITION,
} from "../platform/store/read-page.ts";

/** A session as its project sees it, without the token and its hash. */
export interface SessionDetails extends StoredDetails {
  /** What the session may do, for its user alone. */
  readonly allowance: Allowance | undefined;
  /** What is left of its budget; undefined without a budget. */
  readonly budgetLeft: BudgetLeft | undefined;
}

/** The parts of a session that its own row has. */
interface StoredDetails {
  readonly id: string;
  readonly userReference: string;
  readonly scopes: readonly SessionScope[];
  /** Empty if no page may use it. */
  readonly origins: readonly string[];
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly revokedAt: Date | null;
  /** Precise to the minute. */
  readonly lastUsedAt: Date | null;
  /** The key that created it; null if no key did. */
  readonly apiKeyId: string | null;
  /** The identity provider whose token was exchanged for it; null if a key created it. */
  readonly identityProviderId: string | null;
  readonly proofKeyThumbprint: string | null;
}

/** Those whose sessions a caller sees: all of its project's, or of the users of a narrow key. */
export type SessionOwner = Pick<ProjectCaller, "projectId" | "allowance">;

/** Reads a session of the caller's users. Throws SESSION_NOT_FOUND. */
export async function readSession(
  db: Queryable,
  owner: SessionOwner,
  sessionId: string,
): Promise<SessionDetails> {
  const [session] = await readSessionRows(db, sql`WHERE s.id = ${sessionId} AND ${isOf(owner)}`);
  if (session !== undefined) return session;
  throw new ServiceError("SESSION_NOT_FOUND", "the project has no session with this id", {
    metadata: { sessionId },
  });
}

/** Reads a page of the sessions of the caller's users, the newest first. Throws VALIDATION for a token of another list. */
export async function listSessions(
  db: Queryable,
  owner: SessionOwner,
  { userReference, ...request }: PageRequest & { readonly userReference?: string | undefined },
): Promise<Page<SessionDetails>> {
  return readPage(request, {
    scope: ["session", owner.projectId, ...(userReference === undefined ? [] : [userReference])],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST_UUID, count) =>
      readSessionRows(
        db,
        sql`WHERE ${isOf(owner)} AND s.id < ${after}::uuid
            ${userReference === undefined ? sql`` : sql`AND s.user_reference = ${userReference}`}
            ORDER BY s.id DESC LIMIT ${count}`,
      ),
  });
}

/** The condition that a session of the table `session`, with the alias `s`, is one of the caller's users. */
export function isOf({ projectId, allowance }: SessionOwner): Sql {
  const users = allowance?.userReferences;
  const ofUsers = users === undefined ? sql`` : sql`AND s.user_reference = ANY(${users}::text[])`;
  return sql`s.project_id = ${projectId} ${ofUsers}`;
}

/** Reads sessions. `rest` is the rest of the statement after the table `session`, which has the alias `s`. */
async function readSessionRows(db: Queryable, rest: Sql): Promise<SessionDetails[]> {
  const rows = await readRows(db, sql`${SELECT_SESSION} ${rest}`, COLUMNS);
  return rows.map(({ leftCount, leftMicroUsd, growsAt, ...row }) => {
    const allowance = allowanceOf(row);
    return { ...row, allowance, budgetLeft: allowance?.budget && { leftCount, leftMicroUsd, growsAt } };
  });
}

const SELECT_SESSION = sql`SELECT s.id, s.user_reference AS "userReference", s.scopes, s.origins,
  s.created_at AS "createdAt", s.expires_at AS "expiresAt", coalesce(s.revoked_at, r.removed_at) AS "revokedAt",
  s.last_used_at AS "lastUsedAt", s.api_key_id AS "apiKeyId", s.proof_key_thumbprint AS "proofKeyThumbprint",
  s.identity_provider_id AS "identityProviderId",
  ${SELECT_ALLOWANCE}, ${SELECT_BUDGET_LEFT}
  FROM session s LEFT JOIN removed_identity_provider r ON r.id = s.identity_provider_id
  ${joinAllowance(sql`coalesce(s.allowance_id, s.id)`)} ${joinBudgetLeft()}`;

const COLUMNS: Columns<StoredDetails & AllowanceRow & BudgetLeft> = {
  id: text,
  userReference: text,
  scopes: listOf(oneOf(...SESSION_SCOPES)),
  origins: listOf(text),
  createdAt: time,
  expiresAt: time,
  revokedAt: nullable(time),
  lastUsedAt: nullable(time),
  apiKeyId: nullable(text),
  proofKeyThumbprint: nullable(text),
  identityProviderId: nullable(text),
  ...ALLOWANCE_COLUMNS,
  ...BUDGET_LEFT_COLUMNS,
};
