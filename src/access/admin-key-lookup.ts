import { ADMIN_KEY_TOPICS } from "../coordination/topics.ts";
import { isAdminKeyForm } from "./api-key.ts";
import { noteKeyUse, type StoredKeyLookupOptions } from "./api-key-lookup.ts";
import { createKeyLookup, type KeyLookup } from "./key-lookup.ts";

/** A stored admin key. */
export interface KnownAdminKey {
  readonly id: string;
  readonly name: string;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
}

/** Finds named admin keys by their plaintext. */
export type AdminKeyLookup = KeyLookup<KnownAdminKey>;

/** Looks named admin keys up in the database. */
export function createAdminKeyLookup({ database, ...options }: StoredKeyLookupOptions): AdminKeyLookup {
  return createKeyLookup<KnownAdminKey>({
    ...options,
    kind: ADMIN_KEY_TOPICS,
    isForm: isAdminKeyForm,
    async read(hash) {
      const [key] = await database.query<KnownAdminKey>(
        `SELECT id, name, expires_at AS "expiresAt", revoked_at AS "revokedAt" FROM admin_key WHERE hash = $1`,
        [hash],
      );
      return key;
    },
    noteUse: (id) => noteKeyUse(database, "admin_key", id),
  });
}
