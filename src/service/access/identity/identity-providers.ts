import sql, { type Sql } from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../../audit/audit-event.ts";
import { invalidField, ServiceError } from "../../platform/errors/service-error.ts";
import type { Idempotency } from "../../platform/idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce } from "../../platform/idempotency/run-once.ts";
import {
  bigint,
  boolean,
  type Columns,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../../platform/store/columns.ts";
import { type Database, execute, newId, type Queryable, readRows } from "../../platform/store/database.ts";
import type { Budget } from "../allowances/allowance.ts";
import { type AdminCaller, SESSION_SCOPES, type SessionScope } from "../caller.ts";
import { projectNotFound, requireProject } from "../projects.ts";
import { readOrigins } from "../web-origins.ts";
import { readOutsideUrl } from "./outside-url.ts";
import { KeySetMalformed, readKeySet } from "./read-key-set.ts";
import { ID_TOKEN_ALGORITHMS, type IdTokenAlgorithm, type IdTokenRules } from "./verify-id-token.ts";

/** What the ID tokens of a provider need, and what they grant. */
export interface IdentityProviderSettings extends IdTokenRules {
  /** Undefined if the keys are pinned. */
  readonly keySetUrl: string | undefined;
  /** The pinned keys, a JSON Web Key Set. Undefined if they are at a URL. */
  readonly keySet: string | undefined;
  /** True if a session needs no key of the device. */
  readonly allowsUnbound: boolean;
  readonly scopes: readonly SessionScope[];
  readonly origins: readonly string[];
  /** At most a day. */
  readonly sessionSeconds: number;
  /** What each user may spend in all sessions together; undefined for no limit. */
  readonly budget: Budget | undefined;
}

/** An issuer that a project trusts. */
export interface IdentityProvider extends IdentityProviderSettings {
  readonly id: string;
  readonly projectId: string;
  /** The network of the project. */
  readonly network: string;
  readonly createdAt: Date;
}

/**
 * Creates an identity provider for a project of the caller's network, once per idempotency key. Throws VALIDATION,
 * PROJECT_NOT_FOUND, IDENTITY_PROVIDER_EXISTS, TOO_MANY_IDENTITY_PROVIDERS, IDEMPOTENCY_KEY_REUSED and
 * IDEMPOTENCY_IN_FLIGHT.
 */
export async function createIdentityProvider(
  database: Database,
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  projectId: string,
  settings: IdentityProviderSettings,
  options: { readonly allowsInside: boolean },
): Promise<IdentityProvider> {
  checkKeys(settings, options);
  readOrigins("settings.origins", settings.origins);
  const id = await runOnce<string>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    {
      effect: (db) => insertIdentityProvider(db, origin, { ...settings, projectId, network }),
      keep: (subjectId) => ({ subjectId }),
      recall({ subjectId }) {
        if (subjectId === null) throw new Error("no identity provider is remembered");
        return subjectId;
      },
    },
  );
  const provider = await readProvider(database, sql`i.id = ${id}`);
  if (provider !== undefined) return provider;
  throw providerNotFound(id);
}

/** Lists the identity providers of a project, the newest first. Throws PROJECT_NOT_FOUND. */
export async function listIdentityProviders(
  db: Queryable,
  networks: readonly string[],
  projectId: string,
): Promise<IdentityProvider[]> {
  await requireProject(db, networks, projectId);
  const rows = await readRows(
    db,
    sql`${SELECT_PROVIDER} WHERE i.project_id = ${projectId} ORDER BY i.id DESC LIMIT ${PROVIDERS_MAX_COUNT}`,
    PROVIDER_COLUMNS,
  );
  return rows.map(fromRow);
}

/**
 * Deletes an identity provider of the caller's network and ends the sessions that were exchanged through it. These end
 * first, and further exchanges are refused, without a wait for the exchanges that are under way: whoever holds a stolen
 * provider could otherwise delay it with them. A call that was interrupted in between is repeated to finish it. Throws
 * IDENTITY_PROVIDER_NOT_FOUND.
 */
export async function deleteIdentityProvider(
  { database, sessions }: { readonly database: Queryable; readonly sessions: ProviderSessions },
  { network, origin }: AdminCaller,
  id: string,
): Promise<RemovedProvider> {
  const provider = await readProvider(database, sql`i.id = ${id} AND p.network = ${network}`);
  if (provider === undefined) throw providerNotFound(id);
  await sessions.end(database, origin, provider.id);
  sessions.forget(provider.id);
  // Waits for the exchanges that hold the row. The count then includes their sessions.
  const deletedCount = await execute(
    database,
    sql`WITH deleted AS (DELETE FROM identity_provider WHERE id = ${id}::uuid RETURNING id, project_id),
        noted AS (${auditInsert("identity_provider.delete", sql`deleted`, origin)})
        SELECT id FROM deleted`,
  );
  if (deletedCount === 0) throw providerNotFound(id);
  return { provider, endedSessionCount: await sessions.countEnded(database, provider.id) };
}

/** What the removal of a provider needs of sessions. */
export interface ProviderSessions {
  /** Ends the sessions of a provider, also those of exchanges that are under way. A repeated call has no effect. */
  end(db: Queryable, origin: AuditOrigin, providerId: string): Promise<void>;
  /** Makes every process refuse these sessions at once and end their streams. Call it after the commit. */
  forget(providerId: string): void;
  /** Counts the sessions that ended with the provider and have not expired. */
  countEnded(db: Queryable, providerId: string): Promise<number>;
}

/** A removed provider, and the number of sessions that ended with it. */
export interface RemovedProvider {
  readonly provider: IdentityProvider;
  readonly endedSessionCount: number;
}

/** Finds the provider of a project by the issuer of a token. Undefined without one, and for an unknown project. */
export function findIdentityProvider(
  db: Queryable,
  networks: readonly string[],
  { projectId, issuer }: { readonly projectId: string; readonly issuer: string },
): Promise<IdentityProvider | undefined> {
  return readProvider(
    db,
    sql`i.project_id = ${projectId} AND i.issuer = ${issuer} AND p.network = ANY(${networks}::text[])`,
  );
}

/** The maximum number of providers of a project. */
const PROVIDERS_MAX_COUNT = 8;

function checkKeys(
  { keySetUrl, keySet }: IdentityProviderSettings,
  options: { readonly allowsInside: boolean },
): void {
  if (keySetUrl !== undefined && readOutsideUrl(keySetUrl, options) === undefined)
    throw invalidField("settings.key_set_url", "must be an https URL of a host with public addresses");
  try {
    if (keySet !== undefined) readKeySet(keySet);
  } catch (error) {
    if (error instanceof KeySetMalformed) throw invalidField("settings.key_set_json", error.message);
    throw error;
  }
}

/** Locks the project, so that the count is exact. */
async function insertIdentityProvider(
  db: Queryable,
  origin: AuditOrigin,
  provider: IdentityProviderSettings & { readonly projectId: string; readonly network: string },
): Promise<string> {
  const { projectId, network, issuer, budget } = provider;
  const [project] = await readRows(
    db,
    sql`SELECT id FROM project WHERE id = ${projectId} AND network = ${network} FOR NO KEY UPDATE`,
    { id: text },
  );
  if (project === undefined) throw projectNotFound(projectId);
  const issuers = await readRows(
    db,
    sql`SELECT issuer FROM identity_provider WHERE project_id = ${projectId}`,
    {
      issuer: text,
    },
  );
  if (issuers.some((known) => known.issuer === issuer)) {
    throw new ServiceError(
      "IDENTITY_PROVIDER_EXISTS",
      "the project has an identity provider with this issuer",
      {
        metadata: { issuer },
      },
    );
  }
  if (issuers.length >= PROVIDERS_MAX_COUNT) {
    throw new ServiceError("TOO_MANY_IDENTITY_PROVIDERS", "the project has too many identity providers", {
      metadata: { maxCount: String(PROVIDERS_MAX_COUNT) },
    });
  }
  const id = newId();
  await execute(
    db,
    sql`WITH created AS (
          INSERT INTO identity_provider (id, project_id, issuer, audiences, reference_claim, key_set_url, key_set,
            algorithms, token_max_age_seconds, allows_unbound, scopes, origins, session_seconds, window_seconds,
            max_count, max_micro_usd)
          VALUES (${id}, ${projectId}, ${issuer}, ${provider.audiences}, ${provider.referenceClaim},
            ${provider.keySetUrl ?? null}, ${provider.keySet ?? null}, ${provider.algorithms},
            ${provider.tokenMaxAgeSeconds}, ${provider.allowsUnbound}, ${provider.scopes}, ${provider.origins},
            ${provider.sessionSeconds}, ${budget?.windowSeconds ?? null}, ${budget?.maxCount ?? null},
            ${budget?.maxMicroUsd ?? null})
          RETURNING id, project_id
        ) ${auditInsert("identity_provider.create", sql`created`, origin)}`,
  );
  return id;
}

const SELECT_PROVIDER = sql`SELECT i.id, i.project_id AS "projectId", p.network, i.issuer, i.audiences,
  i.reference_claim AS "referenceClaim", i.key_set_url AS "keySetUrl", i.key_set AS "keySet", i.algorithms,
  i.token_max_age_seconds AS "tokenMaxAgeSeconds", i.allows_unbound AS "allowsUnbound", i.scopes, i.origins,
  i.session_seconds AS "sessionSeconds", i.window_seconds AS "windowSeconds", i.max_count AS "maxCount",
  i.max_micro_usd AS "maxMicroUsd", i.created_at AS "createdAt"
  FROM identity_provider i JOIN project p ON p.id = i.project_id`;

interface ProviderRow {
  readonly id: string;
  readonly projectId: string;
  readonly network: string;
  readonly issuer: string;
  readonly audiences: readonly string[];
  readonly referenceClaim: string;
  readonly keySetUrl: string | null;
  readonly keySet: string | null;
  readonly algorithms: readonly IdTokenAlgorithm[];
  readonly tokenMaxAgeSeconds: number;
  readonly allowsUnbound: boolean;
  readonly scopes: readonly SessionScope[];
  readonly origins: readonly string[];
  readonly sessionSeconds: number;
  readonly windowSeconds: number | null;
  readonly maxCount: number | null;
  readonly maxMicroUsd: bigint | null;
  readonly createdAt: Date;
}

const PROVIDER_COLUMNS: Columns<ProviderRow> = {
  id: text,
  projectId: text,
  network: text,
  issuer: text,
  audiences: listOf(text),
  referenceClaim: text,
  keySetUrl: nullable(text),
  keySet: nullable(text),
  algorithms: listOf(oneOf(...ID_TOKEN_ALGORITHMS)),
  tokenMaxAgeSeconds: number,
  allowsUnbound: boolean,
  scopes: listOf(oneOf(...SESSION_SCOPES)),
  origins: listOf(text),
  sessionSeconds: number,
  windowSeconds: nullable(number),
  maxCount: nullable(number),
  maxMicroUsd: nullable(bigint),
  createdAt: time,
};

async function readProvider(db: Queryable, condition: Sql): Promise<IdentityProvider | undefined> {
  const [row] = await readRows(db, sql`${SELECT_PROVIDER} WHERE ${condition}`, PROVIDER_COLUMNS);
  return row && fromRow(row);
}

function fromRow({
  windowSeconds,
  maxCount,
  maxMicroUsd,
  keySetUrl,
  keySet,
  ...row
}: ProviderRow): IdentityProvider {
  const limits = { maxCount: maxCount ?? undefined, maxMicroUsd: maxMicroUsd ?? undefined };
  return {
    ...row,
    keySetUrl: keySetUrl ?? undefined,
    keySet: keySet ?? undefined,
    budget: windowSeconds === null ? undefined : { windowSeconds, ...limits },
  };
}

function providerNotFound(identityProviderId: string): ServiceError {
  return new ServiceError(
    "IDENTITY_PROVIDER_NOT_FOUND",
    "no project of the network has an identity provider with this id",
    {
      metadata: { identityProviderId },
    },
  );
}
