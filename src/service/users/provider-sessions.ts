import sql from "sql-template-tag";
import type { ProviderSessions } from "../access/identity/identity-providers.ts";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { number } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";

/** Creates what the removal of an identity provider needs of sessions. `signals` reach this process and the others. */
export function createProviderSessions(signals?: Signals): ProviderSessions {
  return {
    end: endSessionsOfProvider,
    countEnded: countEndedSessions,
    forget: (providerId) => signals?.notify(topics.identityProvider(providerId)),
  };
}

/**
 * Ends the sessions that were exchanged through a provider, with one row for all of them: whoever holds a stolen provider
 * can create more than one statement could change. Takes no lock on the provider's row.
 */
async function endSessionsOfProvider(db: Queryable, origin: AuditOrigin, providerId: string): Promise<void> {
  await execute(
    db,
    sql`WITH removed AS (
          INSERT INTO removed_identity_provider (id) SELECT id FROM identity_provider WHERE id = ${providerId}::uuid
          ON CONFLICT DO NOTHING RETURNING id
        ), ended AS (
          SELECT removed.id, i.project_id FROM removed JOIN identity_provider i ON i.id = removed.id
        ), noted AS (${auditInsert("identity_provider.end_sessions", sql`ended`, origin)})
        SELECT id FROM ended`,
  );
}

async function countEndedSessions(db: Queryable, providerId: string): Promise<number> {
  const [counted] = await readRows(
    db,
    sql`SELECT count(*)::int AS count FROM session
        WHERE identity_provider_id = ${providerId}::uuid AND revoked_at IS NULL AND expires_at > clock_timestamp()`,
    { count: number },
  );
  return counted?.count ?? 0;
}
