import sql from "sql-template-tag";
import { auditInsert } from "../audit/audit-event.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";
import { readAllowedAddresses } from "./address-list.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import type { AdminCaller } from "./caller.ts";
import { type ApiKeyDetails, readApiKey } from "./read-api-key.ts";

/**
 * Replaces the addresses that a key of the network may be used from; the same ones again change nothing. This process
 * applies them at once, and others after a few seconds. Throws VALIDATION and API_KEY_NOT_FOUND.
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

/** Where a key may be used from. */
export interface AllowedAddresses {
  readonly apiKeyId: string;
  /** IP addresses and CIDR blocks; none means anywhere. */
  readonly allowedAddresses: readonly string[];
}
