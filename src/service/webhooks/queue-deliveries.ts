import sql from "sql-template-tag";
import { hasUnnumbered, numberEvents } from "../events/number-events.ts";
import { text } from "../platform/store/columns.ts";
import { type Database, execute, type Queryable, readRows } from "../platform/store/database.ts";
import { DUE_NOW } from "./claim-deliveries.ts";

/**
 * Finds up to `maxCount` projects whose enabled endpoints lack deliveries for events. Includes projects with events that
 * have no number yet. An endpoint with {@link PENDING_MAX_COUNT} pending deliveries waits, and its events with it.
 */
export async function findProjectsWithNews(db: Queryable, maxCount: number): Promise<readonly string[]> {
  const rows = await readRows(
    db,
    sql`
SELECT p.project_id AS id FROM webhook_project p LEFT JOIN event_head h USING (project_id)
WHERE EXISTS (
  SELECT FROM webhook_endpoint e
  WHERE e.project_id = p.project_id AND e.disabled_for IS NULL AND e.deleted_at IS NULL
    AND (e.sequence < h.last_sequence
         OR EXISTS (SELECT FROM event n WHERE n.project_id = p.project_id AND n.sequence IS NULL))
    AND (SELECT count(*) FROM (SELECT FROM webhook_delivery d WHERE d.endpoint_id = e.id AND d.state = 'pending'
                               LIMIT ${PENDING_MAX_COUNT}) AS pending) < ${PENDING_MAX_COUNT}
)
ORDER BY p.served_at LIMIT ${maxCount}`,
    { id: text },
  );
  return rows.map(({ id }) => id);
}

/** The number of pending deliveries at which an endpoint gets no further ones. */
export const PENDING_MAX_COUNT = 1_000;

/**
 * Makes the deliveries of a project's next events, at most {@link QUEUED_MAX_COUNT} events for each endpoint, in the order
 * of the events. Gives numbers to new events first. An event that the endpoint has had before becomes pending again, which
 * only a replay causes. Does nothing while another process does the same.
 */
export async function queueDeliveries(database: Database, projectId: string): Promise<void> {
  if (await hasUnnumbered(database, projectId)) await numberEvents(database, projectId);
  await database.transaction(async (db) => {
    if (!(await lockProject(db, projectId))) return;
    await execute(db, queue(projectId));
  });
}

/** The maximum number of events in one statement for one endpoint. */
const QUEUED_MAX_COUNT = 200;

/** Locks the project's deliveries. Returns false if another process holds the lock. */
async function lockProject(db: Queryable, projectId: string): Promise<boolean> {
  const lockedCount = await execute(
    db,
    sql`SELECT 1 AS locked FROM webhook_project WHERE project_id = ${projectId}::uuid FOR NO KEY UPDATE SKIP LOCKED`,
  );
  return lockedCount > 0;
}

const queue = (projectId: string) => sql`
WITH behind AS MATERIALIZED (
  SELECT e.id, e.kinds, e.sequence, least(h.last_sequence, greatest(e.sequence, h.lost_sequence) + ${QUEUED_MAX_COUNT})
    AS until, greatest(e.sequence, h.lost_sequence) AS after_sequence
  FROM webhook_endpoint e JOIN event_head h USING (project_id)
  WHERE e.project_id = ${projectId}::uuid AND e.disabled_for IS NULL AND e.deleted_at IS NULL
    AND e.sequence < h.last_sequence
    AND (SELECT count(*) FROM (SELECT FROM webhook_delivery d WHERE d.endpoint_id = e.id AND d.state = 'pending'
                               LIMIT ${PENDING_MAX_COUNT}) AS pending) < ${PENDING_MAX_COUNT}
  FOR NO KEY UPDATE OF e
), queued AS (
  INSERT INTO webhook_delivery AS d
    (id, endpoint_id, project_id, sequence, event_id, kind, subject, user_reference, data, event_time, due_at)
  SELECT gen_random_uuid(), b.id, n.project_id, n.sequence, n.event_id, n.kind, n.subject, n.user_reference, n.data,
    n.created_at, ${DUE_NOW}
  FROM behind b JOIN event n ON n.project_id = ${projectId}::uuid
    AND n.sequence > b.after_sequence AND n.sequence <= b.until
    AND (cardinality(b.kinds) = 0 OR n.kind = ANY(b.kinds))
  ON CONFLICT (endpoint_id, sequence) DO UPDATE SET state = 'pending', attempts = 0, due_at = excluded.due_at, lease = NULL,
    ended_at = NULL, event_id = excluded.event_id, kind = excluded.kind, subject = excluded.subject,
    user_reference = excluded.user_reference, data = excluded.data, event_time = excluded.event_time
    WHERE d.state <> 'pending'
)
UPDATE webhook_endpoint e SET sequence = b.until FROM behind b WHERE e.id = b.id RETURNING e.id`;

/** Reads the projects that have endpoints, or have had some: at most {@link KNOWN_MAX_COUNT}. */
export async function readWebhookProjects(db: Queryable): Promise<ReadonlySet<string>> {
  const rows = await readRows(
    db,
    sql`SELECT project_id AS id FROM webhook_project LIMIT ${KNOWN_MAX_COUNT}`,
    {
      id: text,
    },
  );
  return new Set(rows.map(({ id }) => id));
}

const KNOWN_MAX_COUNT = 10_000;
