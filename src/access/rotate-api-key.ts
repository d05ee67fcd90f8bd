import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce } from "../idempotency/run-once.ts";
import type { Database, Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import type { AdminCaller } from "./caller.ts";
import type { ShownApiKey } from "./create-api-key.ts";
import { insertApiKey } from "./insert-api-key.ts";
import { KEEP_KEY_ID, type MadeKey } from "./keep-key-id.ts";
import { type ApiKeyDetails, readApiKey } from "./read-api-key.ts";

/**
 * Creates a key with the same project, name, scopes and allowed addresses as an existing one, which expires after the
 * overlap. Runs once per idempotency key. A repeat returns the current state of both keys, without the plaintext. This
 * process applies the old key's new expiry at once, others after a few seconds. Throws API_KEY_NOT_FOUND, WRONG_STATE
 * for a key that is revoked, expired or replaced, IDEMPOTENCY_KEY_REUSED and IDEMPOTENCY_IN_FLIGHT.
 */
export async function rotateApiKey(
  { database, lookup }: { readonly database: Database; readonly lookup: Pick<ApiKeyLookup, "forget"> },
  { network, origin }: AdminCaller,
  idempotency: Idempotency | undefined,
  { apiKeyId, overlapSeconds = DEFAULT_OVERLAP_SECONDS, expiresAt }: KeyRotation,
): Promise<RotatedApiKey> {
  const { id, plaintext } = await runOnce<MadeKey>(
    database,
    { scope: ADMIN_SCOPE, network, idempotency },
    {
      ...KEEP_KEY_ID,
      async effect(db) {
        const old = await readApiKey(db, network, apiKeyId, { lock: true });
        await requireUsable(db, old);
        const made = await insertApiKey(db, origin, {
          projectId: old.projectId,
          name: old.name,
          scopes: old.scopes,
          allowedAddresses: old.allowedAddresses,
          expiresAt: expiresAt ?? old.expiresAt ?? undefined,
          rotatedFrom: old.id,
        });
        await endKey(db, origin, old.id, overlapSeconds);
        return made;
      },
    },
  );
  const replaced = await readApiKey(database, network, apiKeyId);
  lookup.forget(replaced.id);
  return { details: await readApiKey(database, network, id), plaintext, replaced };
}

export interface KeyRotation {
  readonly apiKeyId: string;
  /** How long the old key stays valid, at most until its expiry; 0 revokes it. Default: a day. */
  readonly overlapSeconds?: number | undefined;
  /** The expiry of the new key. Default: that of the old one. */
  readonly expiresAt?: Date | undefined;
}

/** The new key, and the key that it replaces. */
export interface RotatedApiKey extends ShownApiKey {
  readonly replaced: ApiKeyDetails;
}

const DEFAULT_OVERLAP_SECONDS = 24 * 60 * 60;

async function requireUsable(db: Queryable, key: ApiKeyDetails): Promise<void> {
  const expiredCount = await execute(db, sql`SELECT 1 WHERE ${key.expiresAt}::timestamptz <= now()`);
  const [state] = [
    ...(key.revokedAt ? ["revoked"] : []),
    ...(key.replacedBy ? ["replaced"] : []),
    ...(expiredCount > 0 ? ["expired"] : []),
  ];
  if (state === undefined) return;
  throw new ServiceError("WRONG_STATE", `the key is ${state}`, { metadata: { state } });
}

/** Ends a key after the overlap. Without one, revokes it, so that its end does not depend on the clocks of replicas. */
async function endKey(
  db: Queryable,
  origin: AuditOrigin,
  apiKeyId: string,
  overlapSeconds: number,
): Promise<void> {
  const isRevoked = overlapSeconds === 0;
  await execute(
    db,
    sql`WITH rotated AS (
          UPDATE api_key SET revoked_at = CASE WHEN ${isRevoked} THEN now() END,
            expires_at = CASE WHEN ${isRevoked} THEN expires_at
                              ELSE least(expires_at, now() + ${overlapSeconds}::integer * interval '1 second') END
          WHERE id = ${apiKeyId} RETURNING id, project_id
        ) ${auditInsert("api_key.rotate", sql`rotated`, origin)}`,
  );
}
