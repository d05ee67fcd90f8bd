import sql, { type Sql } from "sql-template-tag";
import { type EventKind, eventInsert } from "../../events/event.ts";

/**
 * Returns a fragment of a larger statement that writes one event for each share of `source`, a FROM item with the columns
 * `dwallet_id` and `encryption_key_id`, the ids of rows, and `user_reference` of the holder.
 */
export function holderEventInsert(
  kind: Extract<EventKind, "dwallet.shared" | "dwallet.holder_removed">,
  source: Sql,
): Sql {
  return eventInsert(
    kind,
    sql`(SELECT d.project_id, d.object_id AS subject, d.user_reference,
           jsonb_build_object('dwallet_id', d.object_id, 'holder_address', k.signer_address,
             'holder_user', h.user_reference) AS data
         FROM ${source} h JOIN dwallet d ON d.id = h.dwallet_id
         JOIN encryption_key k ON k.id = h.encryption_key_id) AS changed`,
  );
}
