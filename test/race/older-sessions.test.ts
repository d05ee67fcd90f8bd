/** Sessions of an older version, which did not store their identity provider, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { newId } from "../../src/service/platform/store/database.ts";
import { migrate, readMigrations } from "../../src/service/platform/store/migrate.ts";
import { testDatabase } from "../support/database/postgres.ts";
import { projectWith } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { silentLog } from "../support/silent-log.ts";

const test = await testDatabase();
const database = test && (await openTestPool(test.url));
afterAll(async () => {
  await database?.close();
  await test?.drop();
});

describe.skipIf(database === undefined)("the migration of sessions", () => {
  const db = database!;

  it("takes the provider of each from the audit trail", async () => {
    const migrations = await readMigrations();
    const at = migrations.findIndex(({ name }) => name.endsWith("_sessions_of_identity_providers"));
    await migrate(db, silentLog, { migrations: migrations.slice(0, at) });
    const projectId = await projectWith(db, 0n);
    const [first, second] = [await provider("first"), await provider("second")];
    const made = [
      ...[await session(`idp:${first}`), await session(`idp:${second}`), await session("key:1")],
      await session(`idp:${newId()}`),
    ];
    const expired = await session(`idp:${first}`, "-1 hour");
    await migrate(db, silentLog);
    const rows = await db.query<{ id: string; provider: string | null }>(
      `SELECT id, identity_provider_id AS provider FROM session`,
    );
    const providers = new Map(rows.map(({ id, provider: of }) => [id, of]));
    expect(made.map((id) => providers.get(id))).toEqual([first, second, null, null]);
    expect(providers.get(expired)).toBeNull();

    async function provider(issuer: string): Promise<string> {
      const id = newId();
      await db.query(
        `INSERT INTO identity_provider (id, project_id, issuer, audiences, reference_claim, key_set, algorithms,
           token_max_age_seconds, allows_unbound, scopes, origins, session_seconds)
         VALUES ($1, $2, $3, '{app}', 'sub', '{}', '{ES256}', 600, true, '{read}', '{}', 900)`,
        [id, projectId, `https://${issuer}.example`],
      );
      return id;
    }

    async function session(actor: string, lifetime = "1 hour"): Promise<string> {
      const id = newId();
      await db.query(
        `WITH made AS (
           INSERT INTO session (id, project_id, user_reference, hash, scopes, origins, expires_at)
           VALUES ($1::uuid, $2, 'alice', sha256($1::uuid::text::bytea), '{read}', '{}', now() + $4::interval))
         INSERT INTO audit_event (actor, project_id, action, subject)
         VALUES ($3, $2, 'session.create', $1::uuid::text), ($3, $2, 'key.create', 'no id')`,
        [id, projectId, actor, lifetime],
      );
      return id;
    }
  });
});
