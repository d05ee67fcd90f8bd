import { newId, type Queryable } from "../../../src/service/platform/store/database.ts";

/** Stores an identity provider of a project without usable keys, and returns its id. */
export async function providerOf(db: Queryable, projectId: string): Promise<string> {
  const id = newId();
  await db.query(
    `INSERT INTO identity_provider (id, project_id, issuer, audiences, reference_claim, key_set, algorithms,
       token_max_age_seconds, allows_unbound, scopes, origins, session_seconds)
     VALUES ($1, $2, 'https://login.example/' || $1::uuid, '{app}', 'sub', '{}', '{ES256}', 600, true, '{read}', '{}', 900)`,
    [id, projectId],
  );
  return id;
}
