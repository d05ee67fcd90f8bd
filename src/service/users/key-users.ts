import sql from "sql-template-tag";
import { text } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";
import type { UserName } from "./ensure-user.ts";

/** Stores that an encryption key was registered for a user. Returns false if that was known. */
export async function addKeyUser(
  db: Queryable,
  { projectId, reference }: UserName,
  keyId: string,
): Promise<boolean> {
  const addedCount = await execute(
    db,
    sql`INSERT INTO encryption_key_user (project_id, reference, encryption_key_id)
        VALUES (${projectId}, ${reference}, ${keyId}) ON CONFLICT DO NOTHING RETURNING reference`,
  );
  return addedCount > 0;
}

/** Returns the ids of the registered keys of any of these users, the newest first, below an id. */
export async function keysOfUsers(
  db: Queryable,
  { projectId, references, below, count }: KeysOfUsers,
): Promise<string[]> {
  const rows = await readRows(
    db,
    sql`SELECT DISTINCT u.encryption_key_id AS id
        FROM encryption_key_user u JOIN encryption_key k ON k.id = u.encryption_key_id
        WHERE u.project_id = ${projectId} AND u.reference = ANY(${references}::text[])
          AND u.encryption_key_id < ${below}::uuid AND k.object_id IS NOT NULL
        ORDER BY u.encryption_key_id DESC LIMIT ${count}`,
    { id: text },
  );
  return rows.map(({ id }) => id);
}

interface KeysOfUsers {
  readonly projectId: string;
  readonly references: readonly string[];
  readonly below: string;
  readonly count: number;
}
