import type { AdminKeyLookup } from "../access/admin-key-lookup.ts";
import { createAdminKeyOnce } from "../access/create-admin-key-once.ts";
import { listAdminKeys } from "../access/list-admin-keys.ts";
import { revokeAdminKey } from "../access/revoke-admin-key.ts";
import type { AdminKeyOperations } from "../admin/admin-key-calls.ts";
import type { Database } from "../store/database.ts";

/** The operations on named admin keys, over one database. A revoked key leaves the lookup at once. */
export function createAdminKeyOperations(
  database: Database,
  lookup: Pick<AdminKeyLookup, "forget">,
): AdminKeyOperations {
  return {
    createAdminKey: (...call) => createAdminKeyOnce(database, ...call),
    listAdminKeys: (request) => listAdminKeys(database, request),
    revokeAdminKey: (...call) => revokeAdminKey({ sql: database, lookup }, ...call),
  };
}
