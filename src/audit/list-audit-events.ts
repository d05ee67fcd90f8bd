import { type Page, type PageRequest, readPage } from "../paging/read-page.ts";
import type { Queryable } from "../store/database.ts";

/** Which events are listed, and which page of them. */
export interface ListAuditEventsInput extends PageRequest {
  /** Undefined means all. */
  readonly projectId: string | undefined;
  /** Undefined means all. */
  readonly actor: string | undefined;
}

/** One line of the audit trail. */
export interface AuditEventRow {
  readonly id: bigint;
  readonly actor: string;
  readonly projectId: string | null;
  readonly action: string;
  readonly subject: string;
  readonly requestId: string | null;
  readonly address: string | null;
  readonly createdAt: Date;
  /** Null until it is sealed. */
  readonly sequence: bigint | null;
}

/** The columns of `audit_event e` and its `audit_leaf l` as an {@link AuditEventRow} has them. */
export const AUDIT_EVENT_COLUMNS = `e.id, e.actor, e.project_id AS "projectId", e.action, e.subject,
  e.request_id AS "requestId", e.address, e.created_at AS "createdAt", l.sequence`;

const POSITION = /^\d{1,18}$/;
/** Comes behind every row. */
const LAST = "9223372036854775807";

/**
 * Reads a page of the audit trail, the newest event first: of the network's projects, and of no project. Throws
 * VALIDATION for a token of another list.
 */
export async function listAuditEvents(
  db: Queryable,
  network: string,
  { projectId, actor, ...request }: ListAuditEventsInput,
): Promise<Page<AuditEventRow>> {
  const { bounds, order } = ofIndex(projectId !== undefined, actor !== undefined);
  const statement = `
    SELECT ${AUDIT_EVENT_COLUMNS}
    FROM audit_event e LEFT JOIN project p ON p.id = e.project_id LEFT JOIN audit_leaf l ON l.audit_event_id = e.id
    WHERE ${bounds} AND (e.project_id IS NULL OR p.network = $1)
    ORDER BY ${order} LIMIT $3`;
  const values = [projectId, actor].filter((value) => value !== undefined);
  return readPage(request, {
    scope: ["audit_event", network, projectId ?? "", actor ?? ""],
    positionOf: ({ id }) => String(id),
    position: POSITION,
    read: (after = LAST, count) => db.query<AuditEventRow>(statement, [network, after, count, ...values]),
  });
}

/**
 * Only the filters that there are: each list is read from the end of an index of its own. The bounds are those of that
 * index, as an equality would let the planner walk back through all events to those of a project that has long been quiet.
 */
function ofIndex(hasProject: boolean, hasActor: boolean): { bounds: string; order: string } {
  if (!hasProject && !hasActor) return { bounds: "e.id < $2::bigint", order: "e.id DESC" };
  const [column, first] = hasProject ? ["e.project_id", "$4::uuid"] : ["e.actor", "$4::text"];
  const more = hasProject && hasActor ? " AND e.actor = $5" : "";
  return {
    bounds: `${column} >= ${first} AND (${column}, e.id) < (${first}, $2::bigint)${more}`,
    order: `${column} DESC, e.id DESC`,
  };
}
