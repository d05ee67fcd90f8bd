import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../../audit/audit-event.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import type { Idempotency } from "../../platform/idempotency/idempotency.ts";
import { ADMIN_SCOPE, type OnceOptions, runOnce } from "../../platform/idempotency/run-once.ts";
import { text } from "../../platform/store/columns.ts";
import { type Database, execute, newId, type Queryable, readRows } from "../../platform/store/database.ts";
import {
  LAST_UUID,
  type Page,
  type PageRequest,
  readPage,
  UUID_POSITION,
} from "../../platform/store/read-page.ts";
import { readAllowedAddresses } from "../address-block.ts";
import { checkLimits, insertAllowance, type Limits } from "../allowances/allowances.ts";
import type { AdminCaller, Scope } from "../caller.ts";
import { projectNotFound, requireProject } from "../projects.ts";
import { readKeyOrigins } from "../web-origins.ts";
import { apiKeyPrefix, generateApiKey, hashApiKey } from "./api-key.ts";
import { type ApiKeyDetails, readApiKeyRows } from "./api-key-row.ts";
import type { ApiKeyLookup } from "./stored-keys.ts";

/**
 * Reads a key of a project of the network. With `lock`, locks its row until the transaction ends. Throws
 * API_KEY_NOT_FOUND.
 */
export async function readApiKey(
  db: Queryable,
  network: string,
  apiKeyId: string,
  { lock = false } = {},
): Promise<ApiKeyDetails> {
  if (lock) await execute(db, sql`SELECT 1 FROM api_key WHERE id = ${apiKeyId} FOR NO KEY UPDATE`);
  const [key] = await readApiKeyRows(
    db,
    sql`JOIN project p ON p.id = k.project_id WHERE k.id = ${apiKeyId} AND p.network = ${network}`,
  );
  if (key !== undefined) return key;
  throw new ServiceError("API_KEY_NOT_FOUND", "no project of the network has a key with this id", {
    metadata: { apiKeyId },
  });
}

/**
 * Creates a key for a project, bound to the project's network. Call it in a transaction if the key is narrow. Throws
 * PROJECT_NOT_FOUND, also for a project of another network than the expected one, and VALIDATION for limits that do not
 * fit the scopes.
 */
export async function insertApiKey(
  db: Queryable,
  origin: AuditOrigin,
  {
    projectId,
    network,
    name,
    scopes,
    expiresAt,
    allowedAddresses = [],
    allowedOrigins = [],
    limits = {},
    rotation,
  }: NewApiKey,
): Promise<CreatedApiKey> {
  checkLimits(limits, scopes);
  const [project] = await readRows(db, sql`SELECT network FROM project WHERE id = ${projectId}`, {
    network: text,
  });
  if (project === undefined || project.network !== (network ?? project.network))
    throw projectNotFound(projectId);
  const plaintext = generateApiKey(project.network);
  const created = { id: newId(), prefix: apiKeyPrefix(plaintext), plaintext };
  const allowanceId =
    rotation?.allowanceId ?? (await insertAllowance(db, { id: created.id, projectId, limits }));
  await execute(
    db,
    sql`WITH created AS (
          INSERT INTO api_key (id, project_id, name, prefix, hash, scopes, expires_at, allowed_addresses, allowed_origins,
                               rotated_from, allowance_id)
          VALUES (${created.id}, ${projectId}, ${name}, ${created.prefix}, ${hashApiKey(plaintext)}, ${scopes},
                  ${expiresAt ?? null}, ${allowedAddresses}, ${allowedOrigins}, ${rotation?.from ?? null}, ${allowanceId})
          RETURNING id, project_id
        ) ${auditInsert("api_key.create", sql`created`, origin)}`,
  );
  return created;
}

export interface NewApiKey {
  readonly projectId: string;
  /** The network that the project must be on. Default: any. */
  readonly network?: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Default: no expiry. */
  readonly expiresAt?: Date | undefined;
  /** The addresses that may use the key, as `readAllowedAddresses` returns them. Default: any. */
  readonly allowedAddresses?: readonly string[];
  /** The web origins whose pages may send the key, or `*`. Default: none but the service's own. */
  readonly allowedOrigins?: readonly string[];
  /** What the key may do beyond its scopes. Default: no limits. */
  readonly limits?: Limits;
  /** The key that it replaces, and that key's allowance, which both then share. Default: none. */
  readonly rotation?: { readonly from: string; readonly allowanceId: string | undefined };
}

/** A newly created key. */
export interface CreatedApiKey {
  readonly id: string;
  readonly prefix: string;
  /** The key itself, which is not stored. Show it once. */
  readonly plaintext: string;
}

/**
 * Creates a key for a project of the caller's network, once per idempotency key. A repeat returns the key's current
 * state without its plaintext. Throws VALIDATION, PROJECT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function createApiKey(
  database: Database,
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  key: NewApiKey,
): Promise<ShownApiKey> {
  const allowedAddresses = readAllowedAddresses(key.allowedAddresses ?? []);
  readKeyOrigins(key.allowedOrigins ?? []);
  const { id, plaintext } = await runOnce<MadeKey>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    {
      ...KEEP_KEY_ID,
      effect: (db) => insertApiKey(db, origin, { ...key, network, allowedAddresses }),
    },
  );
  return { details: await readApiKey(database, network, id), plaintext };
}

/** A key, with its plaintext if this call created it. */
export interface ShownApiKey {
  readonly details: ApiKeyDetails;
  /** Undefined for a repeated call, because only the key's id is stored. */
  readonly plaintext: string | undefined;
}

/**
 * Reads a page of a project's keys, newest first, including revoked and expired ones. Throws PROJECT_NOT_FOUND, and
 * VALIDATION for a token of another list.
 */
export async function listApiKeys(
  db: Queryable,
  networks: readonly string[],
  { projectId, ...request }: PageRequest & { readonly projectId: string },
): Promise<Page<ApiKeyDetails>> {
  await requireProject(db, networks, projectId);
  return readPage(request, {
    scope: ["api_key", projectId],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after = LAST_UUID, count) =>
      readApiKeyRows(
        db,
        sql`WHERE k.project_id = ${projectId} AND k.id < ${after}::uuid ORDER BY k.id DESC LIMIT ${count}`,
      ),
  });
}

/**
 * Replaces the addresses that may use a key of the network. A repeated call has no effect. This process applies them at
 * once, others after a few seconds. Throws VALIDATION and API_KEY_NOT_FOUND.
 */
export async function setAllowedAddresses(
  { db, lookup }: { readonly db: Queryable; readonly lookup: Pick<ApiKeyLookup, "forget"> },
  { network, origin }: AdminCaller,
  { apiKeyId, allowedAddresses }: AllowedAddresses,
): Promise<ApiKeyDetails> {
  const addresses = readAllowedAddresses(allowedAddresses);
  await execute(
    db,
    sql`WITH changed AS (
          UPDATE api_key SET allowed_addresses = ${addresses}::text[] FROM project p
          WHERE api_key.id = ${apiKeyId} AND p.id = project_id AND p.network = ${network}
            AND allowed_addresses IS DISTINCT FROM ${addresses}::text[]
          RETURNING api_key.id, project_id
        ) ${auditInsert("api_key.set_allowed_addresses", sql`changed`, origin)}`,
  );
  const key = await readApiKey(db, network, apiKeyId);
  lookup.forget(key.id);
  return key;
}

/** The addresses that may use a key. */
export interface AllowedAddresses {
  readonly apiKeyId: string;
  /** IP addresses and CIDR blocks; none allows every address. */
  readonly allowedAddresses: readonly string[];
}

/**
 * Replaces the web origins whose pages may send a key of the network. A repeated call has no effect. This process applies
 * them at once, others after a few seconds. Throws VALIDATION and API_KEY_NOT_FOUND.
 */
export async function setAllowedOrigins(
  { db, lookup }: { readonly db: Queryable; readonly lookup: Pick<ApiKeyLookup, "forget"> },
  { network, origin }: AdminCaller,
  { apiKeyId, allowedOrigins }: AllowedOrigins,
): Promise<ApiKeyDetails> {
  const origins = readKeyOrigins(allowedOrigins);
  await execute(
    db,
    sql`WITH changed AS (
          UPDATE api_key SET allowed_origins = ${origins}::text[] FROM project p
          WHERE api_key.id = ${apiKeyId} AND p.id = project_id AND p.network = ${network}
            AND allowed_origins IS DISTINCT FROM ${origins}::text[]
          RETURNING api_key.id, project_id
        ) ${auditInsert("api_key.set_allowed_origins", sql`changed`, origin)}`,
  );
  const key = await readApiKey(db, network, apiKeyId);
  lookup.forget(key.id);
  return key;
}

/** The web origins whose pages may send a key. */
export interface AllowedOrigins {
  readonly apiKeyId: string;
  /** Origins, or `*` for every one; none allows no page but the service's own. */
  readonly allowedOrigins: readonly string[];
}

/**
 * Creates a key with the same project, name, scopes and allowed addresses as an existing one, which expires after the
 * overlap. Both keys share the allowance of a narrow key, so a rotation does not renew a budget. Runs once per idempotency
 * key. A repeat returns the current state of both keys, without the plaintext. This process applies the old key's new
 * expiry at once, others after a few seconds. Throws API_KEY_NOT_FOUND, WRONG_STATE for a key that is revoked, expired or
 * replaced, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function rotateApiKey(
  { database, lookup }: { readonly database: Database; readonly lookup: Pick<ApiKeyLookup, "forget"> },
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  { apiKeyId, overlapSeconds = DEFAULT_OVERLAP_SECONDS, expiresAt }: KeyRotation,
): Promise<RotatedApiKey> {
  const { id, plaintext } = await runOnce<MadeKey>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    {
      ...KEEP_KEY_ID,
      async effect(db) {
        const old = await readApiKey(db, network, apiKeyId, { lock: true });
        await requireUsable(db, old);
        const made = await insertApiKey(db, origin, {
          projectId: old.projectId,
          name: old.name,
          scopes: old.scopes,
          allowedAddresses: old.allowedAddresses,
          allowedOrigins: old.allowedOrigins,
          expiresAt: expiresAt ?? old.expiresAt ?? undefined,
          rotation: { from: old.id, allowanceId: old.allowance?.id },
        });
        await endKey(db, origin, old.id, overlapSeconds);
        return made;
      },
    },
  );
  const replaced = await readApiKey(database, network, apiKeyId);
  lookup.forget(replaced.id);
  return { details: await readApiKey(database, network, id), plaintext, replaced };
}

export interface KeyRotation {
  readonly apiKeyId: string;
  /** How long the old key stays valid, at most until its expiry; 0 revokes it. Default: a day. */
  readonly overlapSeconds?: number | undefined;
  /** The expiry of the new key. Default: that of the old one. */
  readonly expiresAt?: Date | undefined;
}

/** The new key, and the key that it replaces. */
export interface RotatedApiKey extends ShownApiKey {
  readonly replaced: ApiKeyDetails;
}

const DEFAULT_OVERLAP_SECONDS = 24 * 60 * 60;

async function requireUsable(db: Queryable, key: ApiKeyDetails): Promise<void> {
  const expiredCount = await execute(db, sql`SELECT 1 WHERE ${key.expiresAt}::timestamptz <= now()`);
  const [state] = [
    ...(key.revokedAt ? ["revoked"] : []),
    ...(key.replacedBy ? ["replaced"] : []),
    ...(expiredCount > 0 ? ["expired"] : []),
  ];
  if (state === undefined) return;
  throw new ServiceError("WRONG_STATE", `the key is ${state}`, { metadata: { state } });
}

/** Ends a key after the overlap. Without one, revokes it, so that its end does not depend on the clocks of replicas. */
async function endKey(
  db: Queryable,
  origin: AuditOrigin,
  apiKeyId: string,
  overlapSeconds: number,
): Promise<void> {
  const isRevoked = overlapSeconds === 0;
  await execute(
    db,
    sql`WITH rotated AS (
          UPDATE api_key SET revoked_at = CASE WHEN ${isRevoked} THEN now() END,
            expires_at = CASE WHEN ${isRevoked} THEN expires_at
                              ELSE least(expires_at, now() + ${overlapSeconds}::integer * interval '1 second') END
          WHERE id = ${apiKeyId} RETURNING id, project_id
        ) ${auditInsert("api_key.rotate", sql`rotated`, origin)}`,
  );
}

/**
 * Revokes a key of the network permanently. A repeated call has no effect. This process refuses the key at once, others
 * when they receive the signal, at the latest after a few seconds. Returns the key with the time of its first
 * revocation. Throws API_KEY_NOT_FOUND.
 */
export async function revokeApiKey(
  { db, lookup }: { readonly db: Queryable; readonly lookup: Pick<ApiKeyLookup, "forget"> },
  { network, origin }: { readonly network: string; readonly origin: AuditOrigin },
  apiKeyId: string,
): Promise<ApiKeyDetails> {
  await execute(
    db,
    sql`WITH revoked AS (
          UPDATE api_key SET revoked_at = now() FROM project p
          WHERE api_key.id = ${apiKeyId} AND revoked_at IS NULL AND p.id = project_id AND p.network = ${network}
          RETURNING api_key.id, project_id
        ) ${auditInsert("api_key.revoke", sql`revoked`, origin)}`,
  );
  const key = await readApiKey(db, network, apiKeyId);
  // Uses the row's id, because a caller may write a UUID in capitals.
  lookup.forget(key.id);
  return key;
}

/** Stores only the key's id for repeats of a call that creates a key. */
export const KEEP_KEY_ID: Pick<OnceOptions<MadeKey>, "keep" | "recall"> = {
  keep: ({ id }) => ({ subjectId: id }),
  recall({ subjectId }) {
    if (subjectId === null) throw new Error("a key was made and its id not remembered");
    return { id: subjectId, plaintext: undefined };
  },
};

/** A created key. Only the call that created it knows its plaintext. */
export interface MadeKey {
  readonly id: string;
  /** Undefined for a repeated call. */
  readonly plaintext: string | undefined;
}
