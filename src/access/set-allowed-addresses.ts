import { auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import { readAllowedAddresses } from "./address-list.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import type { AdminCaller } from "./caller.ts";
import { type ApiKeyDetails, readApiKey } from "./read-api-key.ts";

/** Where a key may be used from. */
export interface AllowedAddresses {
  readonly apiKeyId: string;
  /** IP addresses and CIDR blocks; none means anywhere. */
  readonly allowedAddresses: readonly string[];
}

/**
 * Replaces the addresses that a key of the network may be used from; the same ones again change nothing. This process
 * goes by them at once, others after a few seconds. Throws VALIDATION and API_KEY_NOT_FOUND.
 */
export async function setAllowedAddresses(
  { sql, lookup }: { readonly sql: Sql; readonly lookup: Pick<ApiKeyLookup, "forget"> },
  { network, origin }: AdminCaller,
  { apiKeyId, allowedAddresses }: AllowedAddresses,
): Promise<ApiKeyDetails> {
  await sql.query(
    `WITH changed AS (
       UPDATE api_key SET allowed_addresses = $3::text[] FROM project p
       WHERE api_key.id = $1 AND p.id = project_id AND p.network = $2 AND allowed_addresses IS DISTINCT FROM $3::text[]
       RETURNING api_key.id, project_id
     ) ${auditInsert("api_key.set_allowed_addresses", "changed", 4)}`,
    [apiKeyId, network, readAllowedAddresses(allowedAddresses), ...auditParameters(origin)],
  );
  const key = await readApiKey(sql, network, apiKeyId);
  lookup.forget(key.id);
  return key;
}
