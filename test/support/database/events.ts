import sql from "sql-template-tag";
import { eventInsert } from "../../../src/service/events/event.ts";
import { type EventPlace, readEvents } from "../../../src/service/events/read-events.ts";
import { type Database, execute, type Queryable } from "../../../src/service/platform/store/database.ts";

/** Writes an event of the project with this subject. Default: a completed signature of no user. */
export async function writeEvent(
  db: Queryable,
  projectId: string,
  subject: string,
  {
    kind = "sign.completed",
    userReference,
  }: { kind?: Parameters<typeof eventInsert>[0]; userReference?: string } = {},
): Promise<void> {
  const source = sql`(SELECT ${projectId}::uuid AS project_id, ${subject}::text AS subject,
    ${userReference ?? null}::text AS user_reference, jsonb_build_object('subject', ${subject}::text) AS data) AS one`;
  await execute(db, eventInsert(kind, source));
}

/** Reads all events after a place, in pages. Returns their subjects and the last place. */
export async function followEvents(
  database: Database,
  projectId: string,
  after?: EventPlace,
  count = 50,
): Promise<{ subjects: string[]; place: EventPlace | undefined }> {
  const subjects: string[] = [];
  let place = after;
  for (let hasMore = true; hasMore; ) {
    const page = await readEvents(database, { projectId, after: place, kinds: undefined, count });
    subjects.push(...page.events.map(({ subject }) => subject));
    place = page.place;
    hasMore = page.hasMore;
  }
  return { subjects, place };
}
