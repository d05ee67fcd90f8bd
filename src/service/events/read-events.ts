import sql from "sql-template-tag";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import { bigint, type Columns, nullable, text, time } from "../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../platform/store/database.ts";
import { openToken, sealToken } from "../platform/store/read-page.ts";
import { EVENT_KINDS, type EventKind } from "./event.ts";
import { hasUnnumbered, numberEvents } from "./number-events.ts";

/** An event with its place. */
export interface NumberedEvent {
  readonly eventId: string;
  readonly sequence: bigint;
  readonly kind: string;
  readonly subject: string;
  readonly userReference: string | null;
  /** A JSON object of texts. */
  readonly data: string;
  readonly createdAt: Date;
}

/** A place in the events of a project: after the event with this number. */
export interface EventPlace {
  readonly sequence: bigint;
  /** The id of that event; empty for a place that was not reached by an event. */
  readonly eventId: string;
}

/** A part of the events of a project. */
export interface EventPage {
  readonly events: readonly NumberedEvent[];
  /** After the page. */
  readonly place: EventPlace;
  readonly hasMore: boolean;
}

/**
 * Gives numbers to new events of a project, and reads the next ones. An event that was committed before the call is in
 * the page, or `hasMore` is true. Looks at no more than
 * {@link LOOK_MAX_COUNT} events, so a page with a filter may be short. Throws CURSOR_LOST if events after the place are
 * deleted, or if the events before it are not those that the reader has seen.
 */
export async function readEvents(database: Database, input: ReadEventsInput): Promise<EventPage> {
  const { projectId } = input;
  // The look comes before the read: what another reader has numbered since is then in the page.
  const hasUnread = (await hasUnnumbered(database, projectId)) && (await numberEvents(database, projectId));
  const { events, place, hasMore } = await readNumbered(database, input);
  return { events, place, hasMore: hasMore || hasUnread };
}

/** The reader's project, place and filter. */
export interface ReadEventsInput {
  readonly projectId: string;
  /** Undefined begins with the oldest kept event. */
  readonly after: EventPlace | undefined;
  /** Undefined for all kinds. */
  readonly kinds: readonly EventKind[] | undefined;
  readonly count: number;
}

/** The maximum number of events that a page looks at. */
const LOOK_MAX_COUNT = 1_000;

async function readNumbered(db: Queryable, input: ReadEventsInput): Promise<EventPage> {
  const { projectId, after, kinds, count } = input;
  const rows = await readRows(
    db,
    sql`
WITH head AS MATERIALIZED (
  SELECT last_sequence, lost_sequence, coalesce(${after?.sequence ?? null}::bigint, lost_sequence) AS after_sequence
  FROM event_head WHERE project_id = ${projectId}::uuid
)
SELECT h.last_sequence AS "lastSequence", h.lost_sequence AS "lostSequence", h.after_sequence AS "afterSequence",
  (SELECT e.event_id FROM event e WHERE e.project_id = ${projectId}::uuid AND e.sequence = h.after_sequence) AS "knownId",
  n.event_id AS "eventId", n.sequence, n.kind, n.subject, n.user_reference AS "userReference", n.data::text AS data,
  n.created_at AS "createdAt"
FROM head h LEFT JOIN LATERAL (
  SELECT * FROM event e WHERE e.project_id = ${projectId}::uuid AND e.sequence > h.after_sequence
    AND e.sequence <= h.after_sequence + ${LOOK_MAX_COUNT}::integer
    AND (${kinds ?? null}::text[] IS NULL OR e.kind = ANY(${kinds ?? null}::text[]))
  ORDER BY e.sequence LIMIT ${count}
) n ON true
ORDER BY n.sequence`,
    PAGE_ROW,
  );
  const [first] = rows;
  const seen = after?.sequence ?? 0n;
  if (first === undefined) {
    if (seen > 0n) throw cursorLost();
    return { events: [], place: { sequence: 0n, eventId: "" }, hasMore: false };
  }
  const { lastSequence, lostSequence, afterSequence, knownId } = first;
  if (afterSequence < lostSequence || afterSequence > lastSequence) throw cursorLost();
  // After a restore of an older copy of the database, another event can have the number.
  const isOther =
    knownId !== null && after !== undefined && after.eventId !== "" && after.eventId !== knownId;
  if (isOther) throw cursorLost();
  const events = rows.flatMap((row) => eventOf(row));
  const last = events.at(-1);
  if (last !== undefined && events.length === count)
    return { events, place: last, hasMore: last.sequence < lastSequence };
  const lookedTo = min(afterSequence + BigInt(LOOK_MAX_COUNT), lastSequence);
  const isAtLast = last?.sequence === lookedTo;
  const isAtStart = lookedTo === afterSequence;
  const eventId = isAtLast ? last.eventId : isAtStart ? (knownId ?? "") : "";
  return { events, place: { sequence: lookedTo, eventId }, hasMore: lookedTo < lastSequence };
}

interface PageRow {
  readonly lastSequence: bigint;
  readonly lostSequence: bigint;
  readonly afterSequence: bigint;
  readonly knownId: string | null;
  readonly eventId: string | null;
  readonly sequence: bigint | null;
  readonly kind: string | null;
  readonly subject: string | null;
  readonly userReference: string | null;
  readonly data: string | null;
  readonly createdAt: Date | null;
}

const PAGE_ROW: Columns<PageRow> = {
  lastSequence: bigint,
  lostSequence: bigint,
  afterSequence: bigint,
  knownId: nullable(text),
  eventId: nullable(text),
  sequence: nullable(bigint),
  kind: nullable(text),
  subject: nullable(text),
  userReference: nullable(text),
  data: nullable(text),
  createdAt: nullable(time),
};

/** Returns the event of a row; none for the row of a page without events. */
function eventOf({
  eventId,
  sequence,
  kind,
  subject,
  userReference,
  data,
  createdAt,
}: PageRow): NumberedEvent[] {
  if (
    eventId === null ||
    sequence === null ||
    kind === null ||
    subject === null ||
    data === null ||
    createdAt === null
  )
    return [];
  return [{ eventId, sequence, kind, subject, userReference, data, createdAt }];
}

const min = (a: bigint, b: bigint): bigint => (a < b ? a : b);

/** Reads the place after the newest event of a project, new ones included, so that a reader gets only later events. */
export async function readNewestPlace(database: Database, projectId: string): Promise<EventPlace> {
  while (await hasUnnumbered(database, projectId)) if (!(await numberEvents(database, projectId))) break;
  const [row] = await readRows(
    database,
    sql`SELECT h.last_sequence AS sequence, coalesce(e.event_id::text, '') AS "eventId" FROM event_head h
        LEFT JOIN event e ON e.project_id = h.project_id AND e.sequence = h.last_sequence
        WHERE h.project_id = ${projectId}::uuid`,
    { sequence: bigint, eventId: text },
  );
  return row ?? { sequence: 0n, eventId: "" };
}

/**
 * Finds a place before all events of a project since a time, among those with a number. It may be up to
 * {@link PLACE_MARGIN_MS} early, because events written at once can have numbers in another order than their times.
 */
export async function readPlaceBefore(db: Queryable, projectId: string, since: Date): Promise<EventPlace> {
  const sinceMs = since.getTime() - PLACE_MARGIN_MS;
  const [head] = await readRows(
    db,
    sql`SELECT last_sequence AS last, lost_sequence AS lost FROM event_head WHERE project_id = ${projectId}::uuid`,
    { last: bigint, lost: bigint },
  );
  let low = head?.lost ?? 0n;
  let high = head?.last ?? 0n;
  // The event after `low` is too old, or unknown; the event after `high` is not.
  while (low < high) {
    const middle = (low + high) / 2n;
    const [next] = await readRows(
      db,
      sql`SELECT sequence, created_at AS "createdAt" FROM event
          WHERE project_id = ${projectId}::uuid AND sequence > ${middle}::bigint ORDER BY sequence LIMIT 1`,
      { sequence: bigint, createdAt: time },
    );
    if (next === undefined || next.createdAt.getTime() >= sinceMs) high = middle;
    else low = next.sequence;
  }
  return { sequence: low, eventId: "" };
}

const PLACE_MARGIN_MS = 60_000;

function cursorLost(): ServiceError {
  return new ServiceError(
    "CURSOR_LOST",
    "events after the cursor are no longer kept, or the service has lost events before it: read the state of what you follow, and begin without a cursor",
  );
}

/** Returns the cursor of a place. */
export function sealPlace(projectId: string, { sequence, eventId }: EventPlace): string {
  return sealToken(scopeOf(projectId), `${sequence}.${eventId}`);
}

/** Returns the place of a cursor; undefined for an empty one. Throws VALIDATION for the cursor of another project. */
export function openPlace(projectId: string, cursor: string): EventPlace | undefined {
  if (cursor === "") return undefined;
  const [, sequence, eventId] = PLACE.exec(openToken(scopeOf(projectId), cursor) ?? "") ?? [];
  if (sequence === undefined || eventId === undefined)
    throw invalidField("cursor", "does not belong to the events of this project");
  return { sequence: BigInt(sequence), eventId };
}

const PLACE = /^(\d{1,18})\.((?:[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})?)$/;

const scopeOf = (projectId: string): readonly string[] => ["events", projectId];

/** Returns the filter by kinds; undefined for none. Throws VALIDATION for an unknown kind. */
export function readKinds(names: readonly string[]): readonly EventKind[] | undefined {
  if (names.length === 0) return undefined;
  return names.map((name, index) => {
    const kind = EVENT_KINDS.find((one) => one === name);
    if (kind === undefined) throw invalidField(`kinds[${index}]`, `is not one of ${EVENT_KINDS.join(", ")}`);
    return kind;
  });
}
