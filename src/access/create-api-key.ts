import { type AuditOrigin, auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { apiKeyPrefix, generateApiKey, hashApiKey } from "./api-key.ts";
import type { Scope } from "./caller.ts";

/** A key to be made. */
export interface NewApiKey {
  readonly projectId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Default: never. */
  readonly expiresAt?: Date | undefined;
  /** Where it may be used from, as `readAllowedAddresses` gives them. Default: anywhere. */
  readonly allowedAddresses?: readonly string[];
  /** The id of the key that it replaces. Default: none. */
  readonly rotatedFrom?: string;
}

/** A key that was just made. */
export interface CreatedApiKey {
  readonly id: string;
  readonly prefix: string;
  /** The key itself. It is nowhere else; show it once. */
  readonly plaintext: string;
}

/** Makes a key for a project, bound to the project's network. Throws when there is no such project. */
export async function createApiKey(
  sql: Sql,
  origin: AuditOrigin,
  { projectId, name, scopes, expiresAt, allowedAddresses = [], rotatedFrom }: NewApiKey,
): Promise<CreatedApiKey> {
  const [project] = await sql.query<{ network: string }>("SELECT network FROM project WHERE id = $1", [
    projectId,
  ]);
  if (project === undefined) throw new Error(`there is no project ${projectId}`);
  const plaintext = generateApiKey(project.network);
  const created = { id: newId(), prefix: apiKeyPrefix(plaintext), plaintext };
  await sql.query(
    `WITH created AS (
       INSERT INTO api_key (id, project_id, name, prefix, hash, scopes, expires_at, allowed_addresses, rotated_from)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id, project_id
     ) ${auditInsert("api_key.create", "created", 10)}`,
    [
      created.id,
      projectId,
      name,
      created.prefix,
      hashApiKey(plaintext),
      [...scopes],
      expiresAt ?? null,
      [...allowedAddresses],
      rotatedFrom ?? null,
      ...auditParameters(origin),
    ],
  );
  return created;
}
