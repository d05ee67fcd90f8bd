import { type AuditOrigin, auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import { type ApiKeyDetails, readApiKey } from "./read-api-key.ts";

/**
 * Revokes a key of the network for good; again does nothing. This process refuses it at once, others as soon as
 * they hear of it, or after a few seconds. Returns the key with the time of its first revocation. Throws
 * API_KEY_NOT_FOUND.
 */
export async function revokeApiKey(
  { sql, lookup }: { readonly sql: Sql; readonly lookup: Pick<ApiKeyLookup, "forget"> },
  { network, origin }: { readonly network: string; readonly origin: AuditOrigin },
  apiKeyId: string,
): Promise<ApiKeyDetails> {
  await sql.query(
    `WITH revoked AS (
       UPDATE api_key SET revoked_at = now() FROM project p
       WHERE api_key.id = $1 AND revoked_at IS NULL AND p.id = project_id AND p.network = $2
       RETURNING api_key.id, project_id
     ) ${auditInsert("api_key.revoke", "revoked", 3)}`,
    [apiKeyId, network, ...auditParameters(origin)],
  );
  const key = await readApiKey(sql, network, apiKeyId);
  // The row's id: a caller may write a UUID in capitals.
  lookup.forget(key.id);
  return key;
}
