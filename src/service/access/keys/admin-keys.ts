import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../../audit/audit-event.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import type { Idempotency } from "../../platform/idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce } from "../../platform/idempotency/run-once.ts";
import { type Database, execute, newId, type Queryable } from "../../platform/store/database.ts";
import { type Page, type PageRequest, readPage, UUID_POSITION } from "../../platform/store/read-page.ts";
import type { AdminCaller } from "../caller.ts";
import { apiKeyPrefix, generateAdminKey, hashApiKey } from "./api-key.ts";
import { type CreatedApiKey, KEEP_KEY_ID, type MadeKey } from "./api-keys.ts";
import type { AdminKeyLookup } from "./stored-keys.ts";

/** Reads a named admin key. Must not be called inside a transaction. Throws ADMIN_KEY_NOT_FOUND. */
export async function readAdminKey({ prisma }: Database, adminKeyId: string): Promise<AdminKeyDetails> {
  const key = await prisma.adminKey.findUnique({ where: { id: adminKeyId }, select: ADMIN_KEY_FIELDS });
  if (key !== null) return key;
  throw new ServiceError("ADMIN_KEY_NOT_FOUND", "there is no admin key with this id", {
    metadata: { adminKeyId },
  });
}

/** A named admin key as the operator sees it, without the key itself and its hash. */
export interface AdminKeyDetails {
  readonly id: string;
  readonly name: string;
  readonly prefix: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Precise to the minute. */
  readonly lastUsedAt: Date | null;
}

/** The columns of {@link AdminKeyDetails}, for a `select` of Prisma. */
export const ADMIN_KEY_FIELDS = {
  id: true,
  name: true,
  prefix: true,
  createdAt: true,
  expiresAt: true,
  revokedAt: true,
  lastUsedAt: true,
} as const;

/**
 * Creates a named admin key. A name is never reused, so an actor in the audit trail always means the same key. Throws
 * ADMIN_KEY_NAME_TAKEN.
 */
export async function insertAdminKey(
  db: Queryable,
  origin: AuditOrigin,
  { name, expiresAt }: NewAdminKey,
): Promise<CreatedApiKey> {
  const plaintext = generateAdminKey();
  const created = { id: newId(), prefix: apiKeyPrefix(plaintext), plaintext };
  const createdCount = await execute(
    db,
    sql`WITH created AS (
          INSERT INTO admin_key (id, name, prefix, hash, expires_at)
          VALUES (${created.id}, ${name}, ${created.prefix}, ${hashApiKey(plaintext)}, ${expiresAt ?? null})
          ON CONFLICT (name) DO NOTHING RETURNING id, NULL::uuid AS project_id
        ), audited AS (${auditInsert("admin_key.create", sql`created`, origin)})
        SELECT id FROM created`,
  );
  if (createdCount === 1) return created;
  throw new ServiceError(
    "ADMIN_KEY_NAME_TAKEN",
    "the name is taken by an admin key, or by one that was revoked",
    { metadata: { name } },
  );
}

export interface NewAdminKey {
  /** 1 to 63 lower-case letters, digits and `._-`; the actor in the audit trail is `admin:<name>`. */
  readonly name: string;
  /** Default: no expiry. */
  readonly expiresAt?: Date | undefined;
}

/**
 * Creates a named admin key, once per idempotency key. A repeat returns the key's current state without its plaintext.
 * Throws ADMIN_KEY_NAME_TAKEN, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function createAdminKey(
  database: Database,
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  key: NewAdminKey,
): Promise<ShownAdminKey> {
  const { id, plaintext } = await runOnce<MadeKey>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    { ...KEEP_KEY_ID, effect: (db) => insertAdminKey(db, origin, key) },
  );
  return { details: await readAdminKey(database, id), plaintext };
}

/** A named admin key, with its plaintext if this call created it. */
export interface ShownAdminKey {
  readonly details: AdminKeyDetails;
  /** Undefined for a repeated call, because only the key's id is stored. */
  readonly plaintext: string | undefined;
}

/**
 * Reads a page of the named admin keys, newest first, including revoked and expired ones. Throws VALIDATION for a token
 * of another list.
 */
export function listAdminKeys({ prisma }: Database, request: PageRequest): Promise<Page<AdminKeyDetails>> {
  return readPage(request, {
    scope: ["admin_key"],
    positionOf: ({ id }) => id,
    position: UUID_POSITION,
    read: (after, take) =>
      prisma.adminKey.findMany({
        where: after === undefined ? {} : { id: { lt: after } },
        orderBy: { id: "desc" },
        take,
        select: ADMIN_KEY_FIELDS,
      }),
  });
}

/**
 * Revokes a named admin key permanently. A repeated call has no effect. This process refuses the key at once, others
 * within seconds. Returns the key with the time of its first revocation. Throws ADMIN_KEY_NOT_FOUND.
 */
export async function revokeAdminKey(
  { database, lookup }: { readonly database: Database; readonly lookup: Pick<AdminKeyLookup, "forget"> },
  { origin }: AdminCaller,
  adminKeyId: string,
): Promise<AdminKeyDetails> {
  await execute(
    database,
    sql`WITH revoked AS (
          UPDATE admin_key SET revoked_at = now() WHERE id = ${adminKeyId} AND revoked_at IS NULL
          RETURNING id, NULL::uuid AS project_id
        ) ${auditInsert("admin_key.revoke", sql`revoked`, origin)}`,
  );
  const key = await readAdminKey(database, adminKeyId);
  lookup.forget(key.id);
  return key;
}
