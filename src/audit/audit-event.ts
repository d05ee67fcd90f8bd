import sql, { type Sql } from "sql-template-tag";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

/** Who does something, as far as the audit trail knows. */
export interface AuditOrigin {
  /** `key:<id>`, `admin:<name>` for a named admin key, `admin` for ADMIN_API_KEY, `system`, or `system:<user>`. */
  readonly actor: string;
  readonly requestId?: string | undefined;
  /** The caller's network address. */
  readonly address?: string | undefined;
  /** `traceparent` of the call, for what is done for it later; no part of the trail. */
  readonly traceParent?: string | undefined;
}

/** What the service does by itself. */
export const SYSTEM_ORIGIN: AuditOrigin = { actor: "system" };

/** One line of the audit trail. */
export interface AuditEvent {
  readonly projectId?: string | undefined;
  /** What and how, like `project.create`. */
  readonly action: string;
  /** The id of what was acted on. */
  readonly subject: string;
}

/** Writes one line. Call it in the transaction of the change that it tells of. */
export async function writeAuditEvent(db: Queryable, origin: AuditOrigin, event: AuditEvent): Promise<void> {
  const { projectId, action, subject } = event;
  await execute(
    db,
    sql`INSERT INTO audit_event (actor, request_id, address, project_id, action, subject)
        VALUES (${columnsOf(origin)}, ${projectId ?? null}, ${action}, ${subject})`,
  );
}

/**
 * The same as a part of a larger statement: an INSERT of one line for each row of `source`, a common table
 * expression with the columns `project_id` and `id`, which becomes the subject.
 */
export function auditInsert(action: string, source: Sql, origin: AuditOrigin): Sql {
  return sql`INSERT INTO audit_event (actor, request_id, address, project_id, action, subject)
    SELECT ${columnsOf(origin)}, project_id, ${action}::text, id::text FROM ${source}`;
}

function columnsOf({ actor, requestId, address }: AuditOrigin): Sql {
  return sql`${actor}::text, ${requestId ?? null}::text, ${address ?? null}::text`;
}
