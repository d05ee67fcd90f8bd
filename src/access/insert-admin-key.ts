import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { Queryable } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { execute } from "../store/statements.ts";
import { apiKeyPrefix, generateAdminKey, hashApiKey } from "./api-key.ts";
import type { CreatedApiKey } from "./insert-api-key.ts";

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
  throw new ServiceError("ADMIN_KEY_NAME_TAKEN", "the name is taken by an admin key, or by one that was revoked", { metadata: { name } });
}

export interface NewAdminKey {
  /** 1 to 63 lower-case letters, digits and `._-`; the actor in the audit trail is `admin:<name>`. */
  readonly name: string;
  /** Default: no expiry. */
  readonly expiresAt?: Date | undefined;
}
