import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import { checkLimits, insertAllowance, type Limits } from "../access/allowances/allowances.ts";
import { hasScope, type ProjectCaller, type SessionScope } from "../access/caller.ts";
import type { ExchangedSession, SessionOfUser } from "../access/identity/exchange-token.ts";
import { tokenInvalid } from "../access/identity/verify-id-token.ts";
import { generateSessionToken, hashApiKey } from "../access/keys/api-key.ts";
import type { SessionLookup } from "../access/stored-sessions.ts";
import { readOrigins } from "../access/web-origins.ts";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import { RecentMap } from "../platform/coordination/recent-map.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import type { Idempotency } from "../platform/idempotency/idempotency.ts";
import { type OnceOptions, runOnce } from "../platform/idempotency/run-once.ts";
import { number, text } from "../platform/store/columns.ts";
import { type Database, execute, newId, type Queryable, readRows } from "../platform/store/database.ts";
import { LOCK_KEYS } from "../platform/store/migrate.ts";
import { ensureActiveUser } from "./ensure-user.ts";
import { readSession, type SessionDetails } from "./session-row.ts";

/** Dependencies of the changes of sessions. */
export interface SessionDeps {
  readonly database: Database;
  readonly lookup: Pick<SessionLookup, "forget">;
  /** The maximum number of users of a project of this network. */
  readonly usersMaxCountOf: (network: string) => number;
  /** The maximum number of sessions of a project that have not expired. Default 500,000. */
  readonly maxCount?: number;
  /** The counts of projects' sessions that this process has read recently. */
  readonly counts: SessionCounts;
}

/** Creates the dependencies of the changes of sessions, with counts of their own. */
export function createSessionDeps(deps: Omit<SessionDeps, "counts">): SessionDeps {
  return { ...deps, counts: new RecentMap(COUNTED_PROJECTS_MAX_COUNT) };
}

/**
 * Creates a session with a project's key, once per idempotency key. A repeat returns the session's current state without
 * its token. Ends the oldest sessions of a user with more than {@link SESSIONS_OF_USER_MAX_COUNT}. Throws VALIDATION,
 * SESSION_TOO_WIDE, TOO_MANY_SESSIONS, USER_FROZEN, USER_DELETED, TOO_MANY_USERS, IDEMPOTENCY_KEY_REUSED and
 * IDEMPOTENCY_IN_FLIGHT.
 */
export async function createSession(
  deps: SessionDeps,
  caller: ProjectCaller,
  idempotency: Idempotency | undefined,
  session: Omit<NewSession, "projectId" | "network" | "apiKeyId">,
): Promise<ShownSession> {
  const { projectId, network, apiKeyId, origin } = caller;
  const limits = narrowLimits(caller, session);
  const { id, token, endedIds } = await runOnce<MadeSession>(
    deps.database,
    { scope: projectId, network, idempotency },
    {
      ...KEEP_SESSION_ID,
      effect: (db) => insertSession(deps, db, origin, { ...session, limits, projectId, network, apiKeyId }),
    },
  );
  for (const endedId of endedIds) deps.lookup.forget(endedId);
  return { details: await readSession(deps.database, caller, id), token };
}

/**
 * Creates a session for a user that an identity provider vouches for, as {@link createSession} does with a key. Each user
 * has separate idempotency keys, so that nobody can use up another's. All sessions of a user by one provider spend from
 * one budget, because a user makes as many as the token allows. Throws VALIDATION, TOKEN_INVALID if the
 * provider was removed meanwhile, TOO_MANY_SESSIONS, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function createSessionOfUser(
  deps: SessionDeps,
  session: SessionOfUser,
): Promise<ExchangedSession> {
  const { projectId, providerId, network, userReference, budget, idempotency, origin, ...more } = session;
  const allowanceId = budget && sharedAllowanceId(providerId, userReference);
  const made = { identityProviderId: providerId, limits: { budget }, allowanceId };
  const own = { ...more, ...made, projectId, network, userReference };
  const { id, token, endedIds } = await runOnce<MadeSession>(
    deps.database,
    { scope: projectId, network, idempotency: ofUser(idempotency, userReference) },
    {
      ...KEEP_SESSION_ID,
      effect: (db) => insertSession(deps, db, origin, own),
    },
  );
  for (const endedId of endedIds) deps.lookup.forget(endedId);
  const { expiresAt } = await readSession(deps.database, { projectId, allowance: undefined }, id);
  return { id, token, userReference, expiresAt };
}

/** Returns the id of the allowance of all sessions that a user gets by a provider: a UUID (RFC 9562, version 8). */
function sharedAllowanceId(providerId: string, userReference: string): string {
  const hex = createHash("sha256")
    .update(JSON.stringify([providerId, userReference]))
    .digest("hex");
  const parts = [hex.slice(0, 8), hex.slice(8, 12), `8${hex.slice(13, 16)}`, `8${hex.slice(17, 20)}`];
  return [...parts, hex.slice(20, 32)].join("-");
}

function ofUser(idempotency: Idempotency | undefined, userReference: string): Idempotency | undefined {
  if (idempotency === undefined) return undefined;
  const hash = createHash("sha256").update(JSON.stringify([userReference, idempotency.key]));
  return { ...idempotency, key: `user:${hash.digest("base64url")}` };
}

/** A repeated call returns the session without its token. */
const KEEP_SESSION_ID: Pick<OnceOptions<MadeSession>, "keep" | "recall"> = {
  keep: ({ id }) => ({ subjectId: id }),
  recall({ subjectId }) {
    if (subjectId === null) throw new Error("a session was made and its id not remembered");
    return { id: subjectId, token: undefined, endedIds: [] };
  },
};

/** A session to create. */
export interface NewSession {
  readonly projectId: string;
  /** The project's network. */
  readonly network: string;
  readonly userReference: string;
  readonly scopes: readonly SessionScope[];
  /** The limits beyond the user. Default: none. */
  readonly limits?: Omit<Limits, "userReferences">;
  /** The web origins whose pages may use it. Default: none. */
  readonly origins?: readonly string[];
  /** Default: one hour. */
  readonly lifetimeSeconds?: number | undefined;
  /** The RFC 7638 thumbprint of the device's key. Default: the token alone suffices. */
  readonly proofKeyThumbprint?: string | undefined;
  /** The id of an allowance that it shares with other sessions of the user. Default: one of its own. */
  readonly allowanceId?: string | undefined;
  /** The identity provider that vouches for the user. Its removal ends the session. Default: none. */
  readonly identityProviderId?: string | undefined;
  /** When the provider issued the user's ID token. Default: no ID token made it. */
  readonly tokenIssuedAt?: Date | undefined;
  /** The key that creates it. Its revocation and expiry end the session. Default: none. */
  readonly apiKeyId?: string | undefined;
}

/** A session, with its token if this call created it. */
export interface ShownSession {
  readonly details: SessionDetails;
  /** Undefined for a repeated call, because only the session's id is stored. */
  readonly token: string | undefined;
}

/** A created session. */
export interface MadeSession {
  readonly id: string;
  /** Undefined for a repeated call. */
  readonly token: string | undefined;
  /** The older sessions of the user that ended. Forget them in the look-up after the commit. */
  readonly endedIds: readonly string[];
}

/** The maximum number of sessions of a user. */
export const SESSIONS_OF_USER_MAX_COUNT = 32;
/** The maximum number of sessions of a project that have not expired. */
export const SESSIONS_OF_PROJECT_MAX_COUNT = 500_000;

/**
 * Stores a session and its allowance, and its user if the project has not named it before. Ends the oldest sessions of
 * the user beyond their number. Call it in a transaction. Throws VALIDATION, TOKEN_INVALID if its identity provider was
 * removed or its ID token is from before `revokeUserSessions`, TOO_MANY_SESSIONS, USER_FROZEN, USER_DELETED and
 * TOO_MANY_USERS.
 */
export async function insertSession(
  deps: SessionDeps,
  db: Queryable,
  origin: AuditOrigin,
  session: NewSession,
): Promise<MadeSession> {
  const {
    projectId,
    network,
    userReference,
    scopes,
    origins = [],
    limits,
    lifetimeSeconds,
    tokenIssuedAt,
    ...more
  } = session;
  const { proofKeyThumbprint = null, apiKeyId = null, identityProviderId = null, allowanceId = null } = more;
  readOrigins("origins", origins);
  // Comes first, so that a removal that waits for this lock holds no other one.
  if (identityProviderId !== null) await lockProvider(db, identityProviderId);
  const own = { ...limits, userReferences: [userReference] };
  checkLimits(own, scopes);
  await requireRoom(deps, db, projectId);
  const user = { projectId, reference: userReference };
  const { sessionsEndedAt } = await ensureActiveUser(db, user, deps.usersMaxCountOf(network));
  if (tokenIssuedAt !== undefined && sessionsEndedAt !== null && tokenIssuedAt <= sessionsEndedAt)
    throw tokenInvalid(
      "revoked",
      "the user's sessions were ended after the ID token was issued; sign in again",
    );
  const lock = sql`${LOCK_KEYS.userSessions}::integer, hashtext(${`${projectId} ${userReference}`})`;
  await execute(db, sql`SELECT pg_advisory_xact_lock(${lock})`);
  const ended = await readRows(
    db,
    sql`WITH ended AS (
          UPDATE session SET revoked_at = clock_timestamp() WHERE id IN (
            SELECT id FROM session s WHERE project_id = ${projectId} AND user_reference = ${userReference}
              AND revoked_at IS NULL AND expires_at > clock_timestamp()
              AND NOT EXISTS (SELECT FROM removed_identity_provider r WHERE r.id = s.identity_provider_id)
            ORDER BY id DESC OFFSET ${SESSIONS_OF_USER_MAX_COUNT - 1})
          RETURNING id, project_id
        ), noted AS (${auditInsert("session.revoke", sql`ended`, origin)})
        SELECT id FROM ended`,
    { id: text },
  );
  const id = newId();
  const token = generateSessionToken();
  await execute(
    db,
    sql`WITH created AS (
          INSERT INTO session (id, project_id, user_reference, hash, scopes, origins, proof_key_thumbprint, api_key_id,
                               identity_provider_id, allowance_id, expires_at)
          VALUES (${id}, ${projectId}, ${userReference}, ${hashApiKey(token)}, ${scopes}, ${origins},
                  ${proofKeyThumbprint}, ${apiKeyId}, ${identityProviderId}, ${allowanceId},
                  least(clock_timestamp() + ${lifetimeSeconds ?? DEFAULT_LIFETIME_SECONDS}::float8 * interval '1 second',
                        (SELECT expires_at FROM api_key WHERE id = ${apiKeyId})))
          RETURNING id, project_id
        ) ${auditInsert("session.create", sql`created`, origin)}`,
  );
  await insertAllowance(db, { id: allowanceId ?? id, projectId, limits: own });
  return { id, token, endedIds: ended.map((row) => row.id) };
}

const DEFAULT_LIFETIME_SECONDS = 60 * 60;

/**
 * Makes sure that a provider is not removed, and keeps its row from being deleted until the transaction ends. Takes no
 * lock once the removal has begun, so that exchanges cannot delay it.
 */
async function lockProvider(db: Queryable, id: string): Promise<void> {
  const lockedCount = await execute(
    db,
    sql`SELECT 1 FROM identity_provider WHERE id = ${id}::uuid
          AND NOT EXISTS (SELECT FROM removed_identity_provider WHERE id = ${id}::uuid) FOR KEY SHARE`,
  );
  if (lockedCount === 0)
    throw tokenInvalid("issuer", "the project has no identity provider with the token's issuer");
}

/**
 * Returns the limits of a session beyond its user: those that it asks for, and else those of the key. Throws
 * SESSION_TOO_WIDE if it asks for more than the key has.
 */
function narrowLimits(
  { allowance, scopes }: Pick<ProjectCaller, "allowance" | "scopes">,
  session: Pick<NewSession, "scopes" | "userReference" | "limits">,
): Omit<Limits, "userReferences"> {
  const { dwalletIds, algorithms, budget } = session.limits ?? {};
  if (!session.scopes.every((scope) => hasScope(scopes, scope))) throw tooWide("scopes");
  if (!isWithin([session.userReference], allowance?.userReferences)) throw tooWide("user_reference");
  if (!isWithin(dwalletIds, allowance?.dwalletIds)) throw tooWide("allowance.dwallet_ids");
  if (!isWithin(algorithms, allowance?.algorithms)) throw tooWide("allowance.algorithms");
  // Each session would spend as much as the key itself may.
  if (allowance?.budget !== undefined) throw tooWide("allowance.budget");
  return {
    dwalletIds: dwalletIds ?? allowance?.dwalletIds,
    algorithms: algorithms ?? allowance?.algorithms,
    budget,
  };
}

/** True if the list asks for nothing, or only for members of the bound. An absent bound bounds nothing. */
function isWithin<T>(list: readonly T[] | undefined, bound: readonly T[] | undefined): boolean {
  return list === undefined || bound === undefined || list.every((one) => bound.includes(one));
}

function tooWide(field: string): ServiceError {
  return new ServiceError("SESSION_TOO_WIDE", `a session cannot have more than its key: ${field}`, {
    metadata: { field },
  });
}

/**
 * Throws TOO_MANY_SESSIONS if the project has no room for another session. Counts at most once a minute per project,
 * because the count of many rows takes long; replicas may together exceed the number by what they create in a minute.
 */
async function requireRoom(
  { counts, maxCount = SESSIONS_OF_PROJECT_MAX_COUNT }: SessionDeps,
  db: Queryable,
  projectId: string,
): Promise<void> {
  let counted = counts.get(projectId);
  if (counted === undefined || counted.untilMs <= performance.now()) {
    counted = { count: await countSessions(db, projectId), untilMs: performance.now() + COUNTED_MS };
    counts.set(projectId, counted);
  }
  if (counted.count < maxCount) {
    counted.count++;
    return;
  }
  throw new ServiceError("TOO_MANY_SESSIONS", `the project has ${maxCount} sessions that have not expired`, {
    metadata: { maxCount: String(maxCount) },
  });
}

/** The number of unexpired sessions by project, with the time of the process's clock until which it is used. */
export type SessionCounts = RecentMap<string, { count: number; readonly untilMs: number }>;

const COUNTED_PROJECTS_MAX_COUNT = 1_000;
const COUNTED_MS = 60_000;

/**
 * Counts the sessions of a project that have not expired, including revoked ones, but without those of removed identity
 * providers: a stolen provider would otherwise leave the project's users no room. Both counts read only indexes.
 */
export async function countSessions(db: Queryable, projectId: string): Promise<number> {
  const [row] = await readRows(
    db,
    sql`SELECT ((SELECT count(*) FROM session WHERE project_id = ${projectId}::uuid AND expires_at > now())
          - (SELECT count(*) FROM removed_identity_provider r JOIN session s ON s.identity_provider_id = r.id
             WHERE s.project_id = ${projectId}::uuid AND s.expires_at > now()))::int AS count`,
    { count: number },
  );
  return row?.count ?? 0;
}
