import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import { type ApiKeyDetails, readApiKey } from "./read-api-key.ts";

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
