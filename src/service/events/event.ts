import sql, { type Sql } from "sql-template-tag";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";

/** The kinds of events. A trigger of the database writes `balance.low`, because many statements move a balance. */
export const EVENT_KINDS = [
  "sign.completed",
  "sign.failed",
  "sign.held",
  "dwallet.active",
  "dwallet.left",
  "dwallet.failed",
  "dwallet.shared",
  "dwallet.holder_removed",
  "deposit.credited",
  "balance.low",
  "budget.exceeded",
  "key.expiring",
] as const;

/** One of {@link EVENT_KINDS}. */
export type EventKind = (typeof EVENT_KINDS)[number];

/**
 * Returns a fragment of a larger statement that writes one event for each row of `source`, a FROM item with these columns:
 *
 * - `project_id`
 * - `subject`: the id of what the event is about, as callers know it
 * - `user_reference`: the user of the subject, or null
 * - `data`: a `jsonb` object of texts; a null is left out
 *
 * The event has no number yet, so the statement needs no lock for it: see {@link ./number-events.ts}.
 */
export function eventInsert(kind: EventKind, source: Sql): Sql {
  return sql`INSERT INTO event (project_id, kind, subject, user_reference, data)
    SELECT project_id, ${kind}::text, subject, user_reference, jsonb_strip_nulls(data) FROM ${source}`;
}

/**
 * Tells the readers of a project's events that there are new ones. Call it after the commit. The announcements of one turn
 * of the event loop share a signal. A lost one delays an event by a second.
 */
export function announceEvents(signals: Signals, projectId: string): void {
  const projectIds = announced.get(signals);
  if (projectIds !== undefined) {
    projectIds.add(projectId);
    return;
  }
  const fresh = new Set([projectId]);
  announced.set(signals, fresh);
  setImmediate(() => {
    announced.delete(signals);
    for (const id of fresh) signals.notify(topics.events(id));
  });
}

const announced = new WeakMap<Signals, Set<string>>();
