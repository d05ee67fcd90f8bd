import { ADMIN_KEY_TOPICS } from "../coordination/topics.ts";
import { isAdminKeyForm } from "./api-key.ts";
import { createKeyLookup, type KeyLookup, type KeyStanding } from "./key-lookup.ts";
import { noteKeyUse, readStoredKeys, type StoredKeyLookupOptions } from "./stored-keys.ts";

/** A stored admin key. */
export interface KnownAdminKey extends KeyStanding {
  readonly id: string;
  readonly name: string;
}

/** Finds named admin keys by their plaintext. */
export type AdminKeyLookup = KeyLookup<KnownAdminKey>;

/** Looks named admin keys up in the database. */
export function createAdminKeyLookup({ database, ...options }: StoredKeyLookupOptions): AdminKeyLookup {
  return createKeyLookup<KnownAdminKey>({
    ...options,
    kind: ADMIN_KEY_TOPICS,
    isForm: isAdminKeyForm,
    read: (hashes) => readStoredKeys(database, "k.name", "admin_key k", hashes),
    noteUse: (id) => noteKeyUse(database, "admin_key", id),
  });
}
