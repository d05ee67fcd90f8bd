import sql from "sql-template-tag";
import { auditInsert } from "../audit/audit-event.ts";
import type { Database } from "../store/database.ts";
import { execute } from "../store/statements.ts";
import type { AdminKeyLookup } from "./admin-key-lookup.ts";
import type { AdminCaller } from "./caller.ts";
import { type AdminKeyDetails, readAdminKey } from "./read-admin-key.ts";

/**
 * Revokes a named admin key permanently. A repeated call has no effect. This process refuses the key at once, others
 * within seconds. Returns the key with the time of its first revocation. Throws ADMIN_KEY_NOT_FOUND.
 */
export async function revokeAdminKey(
  { database, lookup }: { readonly database: Database; readonly lookup: Pick<AdminKeyLookup, "forget"> },
  { origin }: AdminCaller,
  adminKeyId: string,
): Promise<AdminKeyDetails> {
  await execute(
    database,
    sql`WITH revoked AS (
          UPDATE admin_key SET revoked_at = now() WHERE id = ${adminKeyId} AND revoked_at IS NULL
          RETURNING id, NULL::uuid AS project_id
        ) ${auditInsert("admin_key.revoke", sql`revoked`, origin)}`,
  );
  const key = await readAdminKey(database, adminKeyId);
  lookup.forget(key.id);
  return key;
}
