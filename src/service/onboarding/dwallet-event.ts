import sql, { type Sql } from "sql-template-tag";
import { type EventKind, eventInsert } from "../events/event.ts";

/**
 * Returns a fragment of a larger statement that writes one event for each dWallet of `source`, a FROM item with the columns
 * {@link eventColumns}. A dWallet without an object on the chain has no event, because callers know it by that object.
 */
export function dwalletEventInsert(
  kind: Extract<EventKind, "dwallet.active" | "dwallet.left" | "dwallet.failed">,
  source: Sql,
): Sql {
  return eventInsert(
    kind,
    sql`(SELECT project_id, object_id AS subject, user_reference,
           jsonb_build_object('dwallet_id', object_id, 'reason', failure_reason) AS data
         FROM ${source} WHERE object_id IS NOT NULL) AS changed`,
  );
}

/** Returns the columns of a dWallet that its events need. */
export function eventColumns(d: Sql): Sql {
  return sql`${d}.project_id, ${d}.object_id, ${d}.user_reference, ${d}.failure_reason`;
}
