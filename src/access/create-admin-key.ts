import type { Idempotency } from "../idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce } from "../idempotency/run-once.ts";
import type { Database } from "../store/database.ts";
import type { AdminCaller } from "./caller.ts";
import { insertAdminKey, type NewAdminKey } from "./insert-admin-key.ts";
import { KEEP_KEY_ID, type MadeKey } from "./keep-key-id.ts";
import { type AdminKeyDetails, readAdminKey } from "./read-admin-key.ts";

/**
 * Creates a named admin key, once per idempotency key. A repeat returns the key's current state without its plaintext.
 * Throws ADMIN_KEY_NAME_TAKEN, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function createAdminKey(
  database: Database,
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  key: NewAdminKey,
): Promise<ShownAdminKey> {
  const { id, plaintext } = await runOnce<MadeKey>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    { ...KEEP_KEY_ID, effect: (db) => insertAdminKey(db, origin, key) },
  );
  return { details: await readAdminKey(database, id), plaintext };
}

/** A named admin key, with its plaintext if this call created it. */
export interface ShownAdminKey {
  readonly details: AdminKeyDetails;
  /** Undefined for a repeated call, because only the key's id is stored. */
  readonly plaintext: string | undefined;
}
