import sql from "sql-template-tag";
import { API_KEY_TOPICS } from "../coordination/topics.ts";
import { listOf, oneOf, text } from "../store/columns.ts";
import { createAddressList } from "./address-list.ts";
import { isApiKeyForm } from "./api-key.ts";
import { SCOPES, type Scope } from "./caller.ts";
import { createKeyLookup, type KeyLookup, type KeyStanding } from "./key-lookup.ts";
import {
  noteKeyUse,
  readStoredKeys,
  STANDING_COLUMNS,
  type StoredKeyLookupOptions,
  type StoredKeys,
} from "./stored-keys.ts";

/** Creates a look-up of projects' keys in the database. */
export function createApiKeyLookup({ database, ...options }: StoredKeyLookupOptions): ApiKeyLookup {
  return createKeyLookup<KnownApiKey>({
    ...options,
    kind: API_KEY_TOPICS,
    isForm: isApiKeyForm,
    async read(hashes) {
      const rows = await readStoredKeys(database, STORED_API_KEYS, hashes);
      return new Map([...rows].map(([hash, row]) => [hash, { ...row, allows: allowed(row) }]));
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
}

/** Finds projects' keys by their plaintext. */
export type ApiKeyLookup = KeyLookup<KnownApiKey>;

type ApiKeyRow = Omit<KnownApiKey, "allows"> & {
  readonly hash: string;
  readonly allowedAddresses: readonly string[];
};

/** The projects' keys, as {@link readStoredKeys} reads them. */
export const STORED_API_KEYS: StoredKeys<ApiKeyRow> = {
  select: sql`k.project_id AS "projectId", p.network, k.scopes, k.allowed_addresses AS "allowedAddresses"`,
  from: sql`api_key k JOIN project p ON p.id = k.project_id`,
  columns: {
    ...STANDING_COLUMNS,
    projectId: text,
    network: text,
    scopes: listOf(oneOf(...SCOPES)),
    allowedAddresses: listOf(text),
  },
};

function allowed({ allowedAddresses }: ApiKeyRow): KnownApiKey["allows"] {
  return allowedAddresses.length === 0 ? undefined : createAddressList(allowedAddresses);
}
