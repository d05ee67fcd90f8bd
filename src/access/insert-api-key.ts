import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import { text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { execute, readRows } from "../store/statements.ts";
import { apiKeyPrefix, generateApiKey, hashApiKey } from "./api-key.ts";
import type { Scope } from "./caller.ts";

/** Creates a key for a project, bound to the project's network. Throws if the project does not exist. */
export async function insertApiKey(
  db: Queryable,
  origin: AuditOrigin,
  { projectId, name, scopes, expiresAt, allowedAddresses = [], rotatedFrom }: NewApiKey,
): Promise<CreatedApiKey> {
  const [project] = await readRows(db, sql`SELECT network FROM project WHERE id = ${projectId}`, {
    network: text,
  });
  if (project === undefined) throw new Error(`there is no project ${projectId}`);
  const plaintext = generateApiKey(project.network);
  const created = { id: newId(), prefix: apiKeyPrefix(plaintext), plaintext };
  await execute(
    db,
    sql`WITH created AS (
          INSERT INTO api_key (id, project_id, name, prefix, hash, scopes, expires_at, allowed_addresses, rotated_from)
          VALUES (${created.id}, ${projectId}, ${name}, ${created.prefix}, ${hashApiKey(plaintext)}, ${scopes},
                  ${expiresAt ?? null}, ${allowedAddresses}, ${rotatedFrom ?? null})
          RETURNING id, project_id
        ) ${auditInsert("api_key.create", sql`created`, origin)}`,
  );
  return created;
}

export interface NewApiKey {
  readonly projectId: string;
  readonly name: string;
  readonly scopes: readonly Scope[];
  /** Default: no expiry. */
  readonly expiresAt?: Date | undefined;
  /** The addresses that may use the key, as `readAllowedAddresses` returns them. Default: any. */
  readonly allowedAddresses?: readonly string[];
  /** The id of the key that it replaces. Default: none. */
  readonly rotatedFrom?: string;
}

/** A newly created key. */
export interface CreatedApiKey {
  readonly id: string;
  readonly prefix: string;
  /** The key itself, which is not stored. Show it once. */
  readonly plaintext: string;
}
