import { type AuditOrigin, auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";

/**
 * Revokes a key for good; again does nothing. This process refuses it at once, others after a few seconds.
 * Returns whether there is such a key.
 */
export async function revokeApiKey(
  { sql, lookup }: { readonly sql: Sql; readonly lookup: Pick<ApiKeyLookup, "forget"> },
  origin: AuditOrigin,
  apiKeyId: string,
): Promise<boolean> {
  const found = await sql.query<{ id: string }>(
    `WITH revoked AS (
       UPDATE api_key SET revoked_at = now() WHERE id = $1 AND revoked_at IS NULL RETURNING id, project_id
     ), audited AS (${auditInsert("api_key.revoke", "revoked", 2)})
     SELECT id FROM api_key WHERE id = $1`,
    [apiKeyId, ...auditParameters(origin)],
  );
  lookup.forget(apiKeyId);
  return found.length > 0;
}
