import sql from "sql-template-tag";
import { ServiceError } from "../errors/service-error.ts";
import { type Columns, listOf, nullable, oneOf, text, time } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { execute, readRows } from "../store/statements.ts";
import { SCOPES, type Scope } from "./caller.ts";

/**
 * Reads a key of a project of the network. With `lock`, locks its row until the transaction ends. Throws
 * API_KEY_NOT_FOUND.
 */
export async function readApiKey(
  db: Queryable,
  network: string,
  apiKeyId: string,
  { lock = false } = {},
): Promise<ApiKeyDetails> {
  if (lock) await execute(db, sql`SELECT 1 FROM api_key WHERE id = ${apiKeyId} FOR NO KEY UPDATE`);
  const [key] = await readRows(
    db,
    sql`${SELECT_API_KEY} JOIN project p ON p.id = k.project_id
        WHERE k.id = ${apiKeyId} AND p.network = ${network}`,
    API_KEY_COLUMNS,
  );
  if (key !== undefined) return key;
  throw new ServiceError("API_KEY_NOT_FOUND", "no project of the network has a key with this id", {
    metadata: { apiKeyId },
  });
}

/** A key as the operator sees it, without the key itself and its hash. */
export interface ApiKeyDetails {
  readonly id: string;
  readonly projectId: string;
  readonly name: string;
  readonly prefix: string;
  readonly scopes: readonly Scope[];
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly revokedAt: Date | null;
  /** Precise to the minute. */
  readonly lastUsedAt: Date | null;
  /** Empty if every address may use the key. */
  readonly allowedAddresses: readonly string[];
  /** The id of the key that this one replaces. */
  readonly rotatedFrom: string | null;
  /** The id of the key that replaces this one. */
  readonly replacedBy: string | null;
}

/** Selects the columns of {@link ApiKeyDetails} from the table `api_key`, under the alias `k`. */
export const SELECT_API_KEY = sql`SELECT k.id, k.project_id AS "projectId", k.name, k.prefix, k.scopes,
  k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt", k.last_used_at AS "lastUsedAt",
  k.allowed_addresses AS "allowedAddresses", k.rotated_from AS "rotatedFrom",
  (SELECT n.id FROM api_key n WHERE n.rotated_from = k.id) AS "replacedBy"
  FROM api_key k`;

export const API_KEY_COLUMNS: Columns<ApiKeyDetails> = {
  id: text,
  projectId: text,
  name: text,
  prefix: text,
  scopes: listOf(oneOf(...SCOPES)),
  createdAt: time,
  expiresAt: nullable(time),
  revokedAt: nullable(time),
  lastUsedAt: nullable(time),
  allowedAddresses: listOf(text),
  rotatedFrom: nullable(text),
  replacedBy: nullable(text),
};
