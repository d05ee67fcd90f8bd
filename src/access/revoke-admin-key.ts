import { auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import type { AdminKeyLookup } from "./admin-key-lookup.ts";
import type { AdminCaller } from "./caller.ts";
import { type AdminKeyDetails, readAdminKey } from "./read-admin-key.ts";

/**
 * Revokes a named admin key for good; again does nothing. This process refuses it at once, others after a few seconds.
 * Returns the key with the time of its first revocation. Throws ADMIN_KEY_NOT_FOUND.
 */
export async function revokeAdminKey(
  { sql, lookup }: { readonly sql: Sql; readonly lookup: Pick<AdminKeyLookup, "forget"> },
  { origin }: AdminCaller,
  adminKeyId: string,
): Promise<AdminKeyDetails> {
  await sql.query(
    `WITH revoked AS (
       UPDATE admin_key SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL
       RETURNING id, NULL::uuid AS project_id
     ) ${auditInsert("admin_key.revoke", "revoked", 2)}`,
    [adminKeyId, ...auditParameters(origin)],
  );
  const key = await readAdminKey(sql, adminKeyId);
  lookup.forget(key.id);
  return key;
}
