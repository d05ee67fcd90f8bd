import sql, { type Sql } from "sql-template-tag";
import { type EventKind, eventInsert } from "../events/event.ts";

/**
 * Returns a fragment of a larger statement that writes one event for each sign request of `source`, the name of a common
 * table expression with the columns `id`, `project_id`, `dwallet_id` and `failure_reason`.
 */
export function signEventInsert(
  kind: Extract<EventKind, "sign.held" | "sign.completed" | "sign.failed">,
  source: Sql,
): Sql {
  return eventInsert(
    kind,
    sql`(SELECT r.project_id, r.id::text AS subject, d.user_reference,
           jsonb_build_object('sign_request_id', r.id, 'dwallet_id', d.object_id, 'reason', r.failure_reason) AS data
         FROM ${source} r JOIN dwallet d ON d.id = r.dwallet_id) AS ended`,
  );
}
