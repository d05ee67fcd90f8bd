import type { Queryable } from "../store/database.ts";
import type { KeyLookupOptions, KeyStanding } from "./key-lookup.ts";

export interface StoredKeyLookupOptions
  extends Pick<KeyLookupOptions<never>, "signals" | "log" | "now" | "onLookup"> {
  readonly database: Queryable;
}

/**
 * Reads the keys with these hex hashes from a table of keys with the alias `k`, by their hash. The database's clock
 * decides whether a key has expired, not a replica's.
 */
export async function readStoredKeys<Key extends KeyStanding & { readonly id: string }>(
  database: Queryable,
  columns: string,
  tables: string,
  hashes: readonly string[],
): Promise<Map<string, Key>> {
  const rows = await database.query<Key & { readonly hash: string }>(
    `SELECT encode(k.hash, 'hex') AS hash, k.id, ${columns}, k.expires_at AS "expiresAt",
            k.revoked_at IS NOT NULL AS "isRevoked", coalesce(k.expires_at <= clock_timestamp(), false) AS "isExpired",
            (extract(epoch FROM k.expires_at - clock_timestamp()) * 1000)::float8 AS "leftMs"
     FROM ${tables} WHERE k.hash = ANY(SELECT decode(tried, 'hex') FROM unnest($1::text[]) tried)`,
    [[...hashes]],
  );
  return new Map(rows.map((row) => [row.hash, row]));
}

/** Records the use of a valid key, once a minute: enough to distinguish keys in use from forgotten ones. */
export async function noteKeyUse(
  database: Queryable,
  table: "api_key" | "admin_key",
  id: string,
): Promise<void> {
  await database.query(
    `UPDATE ${table} SET last_used_at = now()
     WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
       AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [id],
  );
}
