import sql from "sql-template-tag";
import { ADMIN_KEY_TOPICS } from "../coordination/topics.ts";
import { text } from "../store/columns.ts";
import { isAdminKeyForm } from "./api-key.ts";
import { createKeyLookup, type KeyLookup, type KeyStanding } from "./key-lookup.ts";
import { noteKeyUse, readStoredKeys, STANDING_COLUMNS, type StoredKeyLookupOptions } from "./stored-keys.ts";

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
