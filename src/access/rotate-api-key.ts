import { ServiceError } from "../errors/service-error.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import { ADMIN_SCOPE, runOnce } from "../idempotency/run-once.ts";
import { type AuditOrigin, auditInsert, auditParameters } from "../store/audit.ts";
import type { Database, Sql } from "../store/database.ts";
import type { ApiKeyLookup } from "./api-key-lookup.ts";
import type { AdminCaller } from "./caller.ts";
import { createApiKey } from "./create-api-key.ts";
import type { ShownApiKey } from "./create-api-key-once.ts";
import { KEEP_KEY_ID, type MadeKey } from "./keep-key-id.ts";
import { type ApiKeyDetails, readApiKey } from "./read-api-key.ts";

/** How a key is to be rotated. */
export interface KeyRotation {
  readonly apiKeyId: string;
  /** For so long the old key is still taken, never longer than it would have been; 0 revokes it. Default: a day. */
  readonly overlapSeconds?: number | undefined;
  /** The end of the new key. Default: the old one's. */
  readonly expiresAt?: Date | undefined;
}

/** The key that was made, and the one that it replaces. */
export interface RotatedApiKey extends ShownApiKey {
  readonly replaced: ApiKeyDetails;
}

const DEFAULT_OVERLAP_SECONDS = 24 * 60 * 60;

/**
 * Makes a key of the same project, name, scopes and allowed addresses in place of another one, and ends that one after
 * the overlap; once for each idempotency key, where a repeat has both keys as they are by then, without the plaintext.
 * This process goes by the old key's new end at once, others after a few seconds. Throws API_KEY_NOT_FOUND, WRONG_STATE
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
      async effect(sql) {
        const old = await readApiKey(sql, network, apiKeyId, { lock: true });
        await requireUsable(sql, old);
        const made = await createApiKey(sql, origin, {
          projectId: old.projectId,
          name: old.name,
          scopes: old.scopes,
          allowedAddresses: old.allowedAddresses,
          expiresAt: expiresAt ?? old.expiresAt ?? undefined,
          rotatedFrom: old.id,
        });
        await endKey(sql, origin, old.id, overlapSeconds);
        return made;
      },
    },
  );
  const replaced = await readApiKey(database, network, apiKeyId);
  lookup.forget(replaced.id);
  return { details: await readApiKey(database, network, id), plaintext, replaced };
}

async function requireUsable(sql: Sql, key: ApiKeyDetails): Promise<void> {
  const expired = await sql.query("SELECT 1 WHERE $1::timestamptz <= now()", [key.expiresAt]);
  const [state] = [
    ...(key.revokedAt ? ["revoked"] : []),
    ...(key.replacedBy ? ["replaced"] : []),
    ...(expired.length > 0 ? ["expired"] : []),
  ];
  if (state === undefined) return;
  throw new ServiceError("WRONG_STATE", `the key is ${state}`, { metadata: { state } });
}

/** Without an overlap the key is revoked, so that it is over whatever the clocks of replicas say. */
async function endKey(
  sql: Sql,
  origin: AuditOrigin,
  apiKeyId: string,
  overlapSeconds: number,
): Promise<void> {
  await sql.query(
    `WITH rotated AS (
       UPDATE api_key SET revoked_at = CASE WHEN $2 = 0 THEN now() END,
         expires_at = CASE WHEN $2 = 0 THEN expires_at ELSE least(expires_at, now() + $2 * interval '1 second') END
       WHERE id = $1 RETURNING id, project_id
     ) ${auditInsert("api_key.rotate", "rotated", 3)}`,
    [apiKeyId, overlapSeconds, ...auditParameters(origin)],
  );
}
