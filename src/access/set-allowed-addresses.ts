import sql from "sql-template-tag";
import { auditInsert } from "../audit/audit-event.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";
import { readAllowedAddresses } from "./address-list.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import type { AdminCaller } from "./caller.ts";
import { type ApiKeyDetails, readApiKey } from "./read-api-key.ts";

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
