import { ServiceError } from "../errors/service-error.ts";
import { type AuditOrigin, auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { apiKeyPrefix, generateAdminKey, hashApiKey } from "./api-key.ts";
import type { CreatedApiKey } from "./create-api-key.ts";

/** A named admin key to be made. */
export interface NewAdminKey {
  /** 1 to 63 lower-case letters, digits and `._-`; the actor in the audit trail is `admin:<name>`. */
  readonly name: string;
  /** Default: never. */
  readonly expiresAt?: Date | undefined;
}

/**
 * Makes a named admin key. Names are never given twice, so that an actor in the audit trail is one key for good. Throws
 * ADMIN_KEY_NAME_TAKEN.
 */
export async function createAdminKey(
  sql: Sql,
  origin: AuditOrigin,
  { name, expiresAt }: NewAdminKey,
): Promise<CreatedApiKey> {
  const plaintext = generateAdminKey();
  const created = { id: newId(), prefix: apiKeyPrefix(plaintext), plaintext };
  const rows = await sql.query(
    `WITH created AS (
       INSERT INTO admin_key (id, name, prefix, hash, expires_at) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (name) DO NOTHING RETURNING id, NULL::uuid AS project_id
     ), audited AS (${auditInsert("admin_key.create", "created", 6)})
     SELECT id FROM created`,
    [created.id, name, created.prefix, hashApiKey(plaintext), expiresAt ?? null, ...auditParameters(origin)],
  );
  if (rows.length === 1) return created;
  throw new ServiceError("ADMIN_KEY_NAME_TAKEN", "an admin key has or had this name", { metadata: { name } });
}
