import sql, { join, type Sql } from "sql-template-tag";
import type { AuditSeal } from "../../protocol/seals/audit-seal.ts";
import { auditPath } from "../../protocol/seals/merkle-tree.ts";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import { bigint, type Columns, nullable, text, time } from "../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../platform/store/database.ts";
import { type Page, type PageRequest, readPage } from "../platform/store/read-page.ts";
import { MONEY_OF_EVENT } from "./audit-event.ts";

/**
 * Reads a page of the audit trail, the newest event first: events of the networks' projects and of no project. Throws
 * VALIDATION for a token of another list, and if the time ends before it begins.
 */
export async function listAuditEvents(
  db: Queryable,
  networks: readonly string[],
  { projectId, actor, action, startTime, endTime, ...request }: ListAuditEventsInput,
): Promise<Page<AuditEventRow>> {
  if (startTime !== undefined && endTime !== undefined && startTime >= endTime)
    throw invalidField("end_time", "must be after start_time");
  const times = [startTime, endTime].map((time) => time?.toISOString() ?? "");
  return readPage(request, {
    scope: ["audit_event", networks.join(), projectId ?? "", actor ?? "", action ?? "", ...times],
    positionOf: ({ id }) => String(id),
    position: POSITION,
    read: async (after = LAST, count) => {
      const ids = await idsWithin(db, { startTime, endTime });
      const { bounds, order } = ofIndex({ projectId, actor, action }, ids.first, smaller(after, ids.end));
      return readRows(
        db,
        sql`${SELECT_AUDIT_EVENT} WHERE ${bounds}${ids.filter}
              AND (e.project_id IS NULL OR p.network = ANY(${networks}::text[]))
            ORDER BY ${order} LIMIT ${count}`,
        AUDIT_EVENT_COLUMNS,
      );
    },
  });
}

/** Selects the events of a list, and the page. An undefined filter means all. */
interface ListAuditEventsInput extends PageRequest, EventFilter, TimeFilter {}

interface EventFilter {
  readonly projectId: string | undefined;
  readonly actor: string | undefined;
  /** Such as `api_key.revoke`. */
  readonly action: string | undefined;
}

interface TimeFilter {
  /** Only events from this time on. */
  readonly startTime: Date | undefined;
  /** Only events before this time. */
  readonly endTime: Date | undefined;
}

/** One event of the audit trail. */
export interface AuditEventRow {
  readonly id: bigint;
  readonly actor: string;
  readonly projectId: string | null;
  readonly action: string;
  readonly subject: string;
  readonly requestId: string | null;
  readonly address: string | null;
  readonly createdAt: Date;
  /** Null until the event is sealed. */
  readonly sequence: bigint | null;
  /** Null for an event that moved no money, and for one whose seal does not cover its ledger entry. */
  readonly ledgerEntryId: string | null;
  readonly amountMicroUsd: bigint | null;
}

/** The select list of an {@link AuditEventRow} from `audit_event e` and its `audit_leaf l`. */
const SELECT_AUDIT_EVENT = sql`SELECT e.id, e.actor, e.project_id AS "projectId", e.action, e.subject,
  e.request_id AS "requestId", e.address, e.created_at AS "createdAt", l.sequence,${MONEY_OF_EVENT}
  FROM audit_event e LEFT JOIN project p ON p.id = e.project_id LEFT JOIN audit_leaf l ON l.audit_event_id = e.id`;

/** The types of the columns. */
const AUDIT_EVENT_COLUMNS: Columns<AuditEventRow> = {
  id: bigint,
  actor: text,
  projectId: nullable(text),
  action: text,
  subject: text,
  requestId: nullable(text),
  address: nullable(text),
  createdAt: time,
  sequence: nullable(bigint),
  ledgerEntryId: nullable(text),
  amountMicroUsd: nullable(bigint),
};

const POSITION = /^\d{1,18}$/;
/** Sorts after every row. */
const LAST = "9223372036854775807";

const smaller = (a: string, b: string): string => (BigInt(a) < BigInt(b) ? a : b);

/**
 * Contains only the given filters, so that each list is read from the end of one index, and not past its first id. The
 * bounds are those of that index. With an equality, the planner might scan back through all events to those of a project
 * that has long been quiet. Filters without an index of their own are judged row by row.
 */
function ofIndex(
  { projectId, actor, action }: EventFilter,
  first: string,
  after: string,
): { bounds: Sql; order: Sql } {
  const by = {
    project: { column: sql`e.project_id`, value: sql`${projectId}::uuid` },
    actor: { column: sql`e.actor`, value: sql`${actor}::text` },
    action: { column: sql`e.action`, value: sql`${action}::text` },
  };
  const isIndexed = action !== undefined && !ACTIONS_WITHOUT_INDEX.includes(action);
  const ofProject = projectId === undefined ? [] : [by.project];
  const indexed = isIndexed ? [...ofProject, by.action] : ofProject;
  if (indexed.length === 0 && actor !== undefined) indexed.push(by.actor);
  const columns = [...indexed.map(({ column }) => column), sql`e.id`];
  const rest = [
    // The text of the index's own condition, from which PostgreSQL sees that the index has every such event.
    ...(isIndexed ? [sql`e.action NOT IN ('sign.reserve', 'sign.submit')`] : []),
    ...(actor !== undefined && !indexed.includes(by.actor) ? [sql`e.actor = ${actor}`] : []),
    ...(action !== undefined && !isIndexed ? [sql`e.action = ${action}`] : []),
  ];
  const row = (id: string) => join([...indexed.map(({ value }) => value), sql`${id}::bigint`]);
  const inIndex = [sql`(${join(columns)}) >= (${row(first)})`, sql`(${join(columns)}) < (${row(after)})`];
  return {
    bounds: join([...inIndex, ...rest], " AND "),
    order: join(columns.map((column) => sql`${column} DESC`)),
  };
}

/** Nearly every event has one of these actions, so a scan of the newest events finds them at once. */
const ACTIONS_WITHOUT_INDEX = ["sign.reserve", "sign.submit"];

/**
 * Returns the range of ids that has every event of a span of time, from the first to before the end, and the condition
 * that leaves out the others. Events have ids in the order of their times, except that one of a long transaction has the
 * time of its beginning. So the range is wider than the span by the longest transaction.
 */
async function idsWithin(
  db: Queryable,
  { startTime, endTime }: TimeFilter,
): Promise<{ readonly first: string; readonly end: string; readonly filter: Sql }> {
  if (startTime === undefined && endTime === undefined) return { first: "0", end: LAST, filter: sql`` };
  const [found] = await readRows(
    db,
    sql`SELECT (${firstIdFrom(sql`${startTime ?? null}::timestamptz - ${TRANSACTION_MAX}::interval`)}) AS first,
               (${firstIdFrom(sql`${endTime ?? null}::timestamptz + ${TRANSACTION_MAX}::interval`)}) AS end`,
    { first: bigint, end: bigint },
  );
  return {
    first: startTime === undefined ? "0" : String(found!.first),
    end: endTime === undefined ? LAST : String(found!.end),
    filter: join(
      [
        ...(startTime === undefined ? [] : [sql` AND e.created_at >= ${startTime}`]),
        ...(endTime === undefined ? [] : [sql` AND e.created_at < ${endTime}`]),
      ],
      "",
    ),
  };
}

/** Longer than any transaction that writes an event, and than the database's clock is ever set back. */
const TRANSACTION_MAX = "10 minutes";

/**
 * Selects the id from which on every event is of this time or later: a binary search over the primary key, so that the
 * time needs no index, which each signature would have to update. Ids may have gaps.
 */
const firstIdFrom = (time: Sql): Sql => sql`
  WITH RECURSIVE step (low, high) AS (
    SELECT 1::bigint, COALESCE((SELECT max(id) FROM audit_event), 0) + 1
    UNION ALL
    SELECT CASE WHEN is_before THEN middle + 1 ELSE low END, CASE WHEN is_before THEN high ELSE middle END
    FROM step, LATERAL (SELECT (low + high) / 2 AS middle) AS half, LATERAL (
      SELECT COALESCE(
        (SELECT created_at < ${time} FROM audit_event WHERE id >= middle ORDER BY id LIMIT 1), false
      ) AS is_before
    ) AS look
    WHERE low < high
  )
  SELECT low FROM step WHERE low >= high`;

/** Reads a page of the seals, the newest first. Throws VALIDATION for a token of another list. */
export function listAuditSeals({ prisma }: Database, request: PageRequest): Promise<Page<AuditSeal>> {
  return readPage(request, {
    scope: ["audit_seal"],
    positionOf: ({ number }) => String(number),
    position: POSITION,
    read: (after, take) =>
      prisma.auditSeal.findMany({
        where: after === undefined ? {} : { number: { lt: BigInt(after) } },
        orderBy: { number: "desc" },
        take,
      }),
  });
}

/**
 * Reads the proof of an event that belongs to a project of the networks or to no project. Throws AUDIT_EVENT_NOT_FOUND,
 * and WRONG_STATE while the event is not sealed.
 */
export async function getAuditProof(
  database: Database,
  networks: readonly string[],
  auditEventId: bigint,
): Promise<AuditProof> {
  const event = await readEvent(database, networks, auditEventId);
  if (event.sequence === null) {
    throw new ServiceError("WRONG_STATE", "the event is not sealed yet; retry in a few seconds", {
      metadata: { state: "unsealed" },
    });
  }
  const { prisma } = database;
  const seal = await prisma.auditSeal.findFirst({
    where: { lastSequence: { gte: event.sequence } },
    orderBy: { lastSequence: "asc" },
  });
  if (seal === null) throw new Error(`no seal covers entry ${event.sequence}`);
  const leaves = await prisma.auditLeaf.findMany({
    where: { sequence: { gte: seal.firstSequence, lte: seal.lastSequence } },
    orderBy: { sequence: "asc" },
    select: { leafHash: true },
  });
  const hashes = leaves.map(({ leafHash }) => leafHash);
  return { event, seal, path: auditPath(hashes, Number(event.sequence - seal.firstSequence)) };
}

/**
 * Reads the proof of the submission of a project's sign request. Throws AUDIT_EVENT_NOT_FOUND, and WRONG_STATE while the
 * event is not sealed.
 */
export async function getSubmissionProof(
  database: Database,
  { network, projectId, signRequestId }: Submission,
): Promise<AuditProof> {
  const [event] = await readRows(
    database,
    sql`SELECT id FROM audit_event
        WHERE action = 'sign.submit' AND subject = ${signRequestId} AND project_id = ${projectId}`,
    { id: bigint },
  );
  if (event === undefined)
    throw new ServiceError("AUDIT_EVENT_NOT_FOUND", "the audit trail has no submission of this request");
  return getAuditProof(database, [network], event.id);
}

interface Submission {
  readonly network: string;
  readonly projectId: string;
  readonly signRequestId: string;
}

/** An event with the proof that a seal covers it. */
export interface AuditProof {
  readonly event: AuditEventRow;
  readonly seal: AuditSeal;
  readonly path: readonly Uint8Array[];
}

async function readEvent(
  db: Queryable,
  networks: readonly string[],
  auditEventId: bigint,
): Promise<AuditEventRow> {
  const [event] = await readRows(
    db,
    sql`${SELECT_AUDIT_EVENT} WHERE e.id = ${auditEventId} AND (e.project_id IS NULL OR p.network = ANY(${networks}::text[]))`,
    AUDIT_EVENT_COLUMNS,
  );
  if (event !== undefined) return event;
  throw new ServiceError("AUDIT_EVENT_NOT_FOUND", "the network has no audit event with this id", {
    metadata: { auditEventId: String(auditEventId) },
  });
}
