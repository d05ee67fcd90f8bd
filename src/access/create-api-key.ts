import type { Idempotency } from "../idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce } from "../idempotency/run-once.ts";
import type { Database } from "../store/database.ts";
import { readAllowedAddresses } from "./address-list.ts";
import type { AdminCaller } from "./caller.ts";
import { insertApiKey, type NewApiKey } from "./insert-api-key.ts";
import { KEEP_KEY_ID, type MadeKey } from "./keep-key-id.ts";
import { type ApiKeyDetails, readApiKey } from "./read-api-key.ts";
import { requireProject } from "./require-project.ts";

/**
 * Creates a key for a project of the caller's network, once per idempotency key. A repeat returns the key's current
 * state without its plaintext. Throws VALIDATION, PROJECT_NOT_FOUND, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function createApiKey(
  database: Database,
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  key: NewApiKey,
): Promise<ShownApiKey> {
  const allowedAddresses = readAllowedAddresses(key.allowedAddresses ?? []);
  const { id, plaintext } = await runOnce<MadeKey>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    {
      ...KEEP_KEY_ID,
      async effect(db) {
        await requireProject(db, [network], key.projectId);
        return insertApiKey(db, origin, { ...key, allowedAddresses });
      },
    },
  );
  return { details: await readApiKey(database, network, id), plaintext };
}

/** A key, with its plaintext if this call created it. */
export interface ShownApiKey {
  readonly details: ApiKeyDetails;
  /** Undefined for a repeated call, because only the key's id is stored. */
  readonly plaintext: string | undefined;
}
