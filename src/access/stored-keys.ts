import sql, { type Sql } from "sql-template-tag";
import { boolean, type Columns, nullable, number, text, time } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { execute, readRows } from "../store/statements.ts";
import type { KeyLookupOptions, KeyStanding } from "./key-lookup.ts";

/** A query for a table of keys, with its columns beyond {@link STANDING_COLUMNS}. */
export interface StoredKeys<Key> {
  /** The additional columns. */
  readonly select: Sql;
  /** The table of keys with the alias `k`, and its joins. */
  readonly from: Sql;
  /** All columns: {@link STANDING_COLUMNS} and the additional ones. */
  readonly columns: Columns<Key>;
}

export interface StoredKeyLookupOptions
  extends Pick<KeyLookupOptions<never>, "signals" | "log" | "now" | "onLookup"> {
  readonly database: Queryable;
}

/** The columns of every kind of key. `hash` is in hex. */
export const STANDING_COLUMNS = {
  hash: text,
  id: text,
  expiresAt: nullable(time),
  isRevoked: boolean,
  isExpired: boolean,
  leftMs: nullable(number),
};

/**
 * Reads the keys with these hex hashes and returns them by hash. The database's clock decides whether a key has
 * expired.
 */
export async function readStoredKeys<Key extends KeyStanding & { readonly hash: string }>(
  database: Queryable,
  { select, from, columns }: StoredKeys<Key>,
  hashes: readonly string[],
): Promise<Map<string, Key>> {
  const rows = await readRows(
    database,
    sql`SELECT encode(k.hash, 'hex') AS hash, k.id, ${select}, k.expires_at AS "expiresAt",
          k.revoked_at IS NOT NULL AS "isRevoked", coalesce(k.expires_at <= clock_timestamp(), false) AS "isExpired",
          (extract(epoch FROM k.expires_at - clock_timestamp()) * 1000)::float8 AS "leftMs"
        FROM ${from} WHERE k.hash = ANY(SELECT decode(tried, 'hex') FROM unnest(${hashes}::text[]) tried)`,
    columns,
  );
  return new Map(rows.map((row) => [row.hash, row]));
}

const TABLES = { api_key: sql`api_key`, admin_key: sql`admin_key` };

/** Records the use of a valid key, at most once a minute. That suffices to tell keys in use from forgotten ones. */
export async function noteKeyUse(database: Queryable, table: keyof typeof TABLES, id: string): Promise<void> {
  await execute(
    database,
    sql`UPDATE ${TABLES[table]} SET last_used_at = now()
        WHERE id = ${id} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
          AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
  );
}
