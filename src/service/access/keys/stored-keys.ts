import sql, { type Sql } from "sql-template-tag";
import { ADMIN_KEY_TOPICS, API_KEY_TOPICS } from "../../platform/coordination/topics.ts";
import {
  boolean,
  type Columns,
  listOf,
  nullable,
  number,
  oneOf,
  text,
  time,
} from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import { createAddressList } from "../address-block.ts";
import type { Allowance } from "../allowances/allowance.ts";
import {
  ALLOWANCE_COLUMNS,
  type AllowanceRow,
  allowanceOf,
  joinAllowance,
  SELECT_ALLOWANCE,
} from "../allowances/allowances.ts";
import { SCOPES, type Scope } from "../caller.ts";
import { isAdminKeyForm, isApiKeyForm } from "./api-key.ts";
import { createKeyLookup, type KeyLookup, type KeyLookupOptions, type KeyStanding } from "./key-lookup.ts";

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
  extends Pick<KeyLookupOptions<never>, "signals" | "log" | "now" | "onLookup" | "rememberedMaxCount"> {
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

const TABLES = { api_key: sql`api_key`, admin_key: sql`admin_key`, session: sql`session` };

/** Records the use of a valid key, at most once a minute. That suffices to tell keys in use from forgotten ones. */
export async function noteKeyUse(database: Queryable, table: keyof typeof TABLES, id: string): Promise<void> {
  await execute(
    database,
    sql`UPDATE ${TABLES[table]} SET last_used_at = now()
        WHERE id = ${id} AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
          AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
  );
}

/** Creates a look-up of projects' keys in the database. */
export function createApiKeyLookup({ database, ...options }: StoredKeyLookupOptions): ApiKeyLookup {
  return createKeyLookup<KnownApiKey>({
    ...options,
    kind: API_KEY_TOPICS,
    ownerOf: ({ projectId }) => projectId,
    isForm: isApiKeyForm,
    async read(hashes) {
      const rows = await readStoredKeys(database, STORED_API_KEYS, hashes);
      return new Map([...rows].map(([hash, row]) => [hash, knownKey(row)]));
    },
    noteUse: (id) => noteKeyUse(database, "api_key", id),
  });
}

/** A stored key with the network of its project. */
export interface KnownApiKey extends KeyStanding {
  readonly id: string;
  readonly projectId: string;
  readonly network: string;
  readonly scopes: readonly Scope[];
  /** Returns true if an address may use the key. Undefined if every address may. */
  readonly allows: ((address: string) => boolean) | undefined;
  /** The web origins whose pages may send the key, or `*`; empty for none but the service's own. */
  readonly allowedOrigins: readonly string[];
  /** The limits of a narrow key; undefined for a key without any. */
  readonly allowance: Allowance | undefined;
}

/** Finds projects' keys by their plaintext. */
export type ApiKeyLookup = KeyLookup<KnownApiKey>;

type ApiKeyRow = Omit<KnownApiKey, "allows" | "allowance"> &
  AllowanceRow & {
    readonly hash: string;
    readonly allowedAddresses: readonly string[];
  };

/** The projects' keys, as {@link readStoredKeys} reads them. */
export const STORED_API_KEYS: StoredKeys<ApiKeyRow> = {
  select: sql`k.project_id AS "projectId", p.network, k.scopes, k.allowed_addresses AS "allowedAddresses",
    k.allowed_origins AS "allowedOrigins", ${SELECT_ALLOWANCE}`,
  from: sql`api_key k JOIN project p ON p.id = k.project_id ${joinAllowance(sql`k.allowance_id`)}`,
  columns: {
    ...STANDING_COLUMNS,
    projectId: text,
    network: text,
    scopes: listOf(oneOf(...SCOPES)),
    allowedAddresses: listOf(text),
    allowedOrigins: listOf(text),
    ...ALLOWANCE_COLUMNS,
  },
};

function knownKey(row: ApiKeyRow): KnownApiKey {
  const { id, projectId, network, scopes, allowedOrigins, isRevoked, isExpired, leftMs, expiresAt } = row;
  const standing = { isRevoked, isExpired, leftMs, expiresAt };
  const allowance = allowanceOf(row);
  return { id, projectId, network, scopes, allowedOrigins, ...standing, allows: allowed(row), allowance };
}

function allowed({ allowedAddresses }: ApiKeyRow): KnownApiKey["allows"] {
  return allowedAddresses.length === 0 ? undefined : createAddressList(allowedAddresses);
}

/** Creates a look-up of named admin keys in the database. */
export function createAdminKeyLookup({ database, ...options }: StoredKeyLookupOptions): AdminKeyLookup {
  return createKeyLookup<KnownAdminKey>({
    ...options,
    kind: ADMIN_KEY_TOPICS,
    isForm: isAdminKeyForm,
    read: (hashes) => readStoredKeys(database, STORED_ADMIN_KEYS, hashes),
    noteUse: (id) => noteKeyUse(database, "admin_key", id),
  });
}

export interface KnownAdminKey extends KeyStanding {
  readonly id: string;
  readonly name: string;
}

/** Finds named admin keys by their plaintext. */
export type AdminKeyLookup = KeyLookup<KnownAdminKey>;

const STORED_ADMIN_KEYS = {
  select: sql`k.name`,
  from: sql`admin_key k`,
  columns: { ...STANDING_COLUMNS, name: text },
};
