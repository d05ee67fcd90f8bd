import { ServiceError } from "../errors/service-error.ts";
import type { Queryable } from "../store/database.ts";
import type { Scope } from "./caller.ts";

/** A key, as the operator sees it: neither the key itself nor its hash. */
export interface ApiKeyDetails {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** To the minute. */
  readonly lastUsedAt: Date | null;
  /** Empty: anywhere. */
  readonly allowedAddresses: readonly string[];
  /** The key that it replaces. */
  readonly rotatedFrom: string | null;
  /** The key that replaces it. */
  readonly replacedBy: string | null;
}

/** The columns of {@link ApiKeyDetails}, from the table `api_key` named `k`. */
export const API_KEY_COLUMNS = `k.id, k.project_id AS "projectId", k.name, k.prefix, k.scopes,
  k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt", k.last_used_at AS "lastUsedAt",
  k.allowed_addresses AS "allowedAddresses", k.rotated_from AS "rotatedFrom",
  (SELECT n.id FROM api_key n WHERE n.rotated_from = k.id) AS "replacedBy"`;

/**
 * Reads a key of a project of the network; with `lock` nobody else changes it until the transaction ends. Throws
 * API_KEY_NOT_FOUND.
 */
export async function readApiKey(
  db: Queryable,
  network: string,
  apiKeyId: string,
  { lock = false } = {},
): Promise<ApiKeyDetails> {
  if (lock) await db.query("SELECT 1 FROM api_key WHERE id = $1 FOR NO KEY UPDATE", [apiKeyId]);
  const [key] = await db.query<ApiKeyDetails>(
    `SELECT ${API_KEY_COLUMNS} FROM api_key k JOIN project p ON p.id = k.project_id
     WHERE k.id = $1 AND p.network = $2`,
    [apiKeyId, network],
  );
  if (key !== undefined) return key;
  throw new ServiceError("API_KEY_NOT_FOUND", "no project of the network has a key with this id", {
    metadata: { apiKeyId },
  });
}
