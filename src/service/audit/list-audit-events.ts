import sql, { type Sql } from "sql-template-tag";
import type { AuditSeal } from "../../protocol/seals/audit-seal.ts";
import { auditPath } from "../../protocol/seals/merkle-tree.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { bigint, type Columns, nullable, text, time } from "../platform/store/columns.ts";
import { type Database, type Queryable, readRows } from "../platform/store/database.ts";
import { type Page, type PageRequest, readPage } from "../platform/store/read-page.ts";

/**
 * Reads a page of the audit trail, the newest event first: events of the networks' projects and of no project. Throws
 * VALIDATION for a token of another list.
 */
export async function listAuditEvents(
  db: Queryable,
  networks: readonly string[],
  { projectId, actor, ...request }: ListAuditEventsInput,
): Promise<Page<AuditEventRow>> {
  return readPage(request, {
    scope: ["audit_event", networks.join(), projectId ?? "", actor ?? ""],
    positionOf: ({ id }) => String(id),
    position: POSITION,
    read: (after = LAST, count) => {
      const { bounds, order } = ofIndex({ projectId, actor }, after);
      return readRows(
        db,
        sql`${SELECT_AUDIT_EVENT} WHERE ${bounds} AND (e.project_id IS NULL OR p.network = ANY(${networks}::text[]))
            ORDER BY ${order} LIMIT ${count}`,
        AUDIT_EVENT_COLUMNS,
      );
    },
  });
}

/** Selects the events of a list, and the page. */
interface ListAuditEventsInput extends PageRequest {
  /** Undefined means all. */
  readonly projectId: string | undefined;
  /** Undefined means all. */
  readonly actor: string | undefined;
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
}

/** The select list of an {@link AuditEventRow} from `audit_event e` and its `audit_leaf l`. */
const SELECT_AUDIT_EVENT = sql`SELECT e.id, e.actor, e.project_id AS "projectId", e.action, e.subject,
  e.request_id AS "requestId", e.address, e.created_at AS "createdAt", l.sequence
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
};

const POSITION = /^\d{1,18}$/;
/** Sorts after every row. */
const LAST = "9223372036854775807";

/**
 * Contains only the given filters, so that each list is read from the end of its own index. The bounds are those of
 * that index. With an equality, the planner might scan back through all events to those of a project that has long been
 * quiet.
 */
function ofIndex(
  { projectId, actor }: Pick<ListAuditEventsInput, "projectId" | "actor">,
  after: string,
): { bounds: Sql; order: Sql } {
  if (projectId === undefined && actor === undefined)
    return { bounds: sql`e.id < ${after}::bigint`, order: sql`e.id DESC` };
  const [column, first] =
    projectId === undefined
      ? [sql`e.actor`, sql`${actor}::text`]
      : [sql`e.project_id`, sql`${projectId}::uuid`];
  const more = projectId === undefined || actor === undefined ? sql`` : sql` AND e.actor = ${actor}`;
  return {
    bounds: sql`${column} >= ${first} AND (${column}, e.id) < (${first}, ${after}::bigint)${more}`,
    order: sql`${column} DESC, e.id DESC`,
  };
}

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
