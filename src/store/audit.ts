import type { Sql } from "./database.ts";

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
export async function writeAuditEvent(sql: Sql, origin: AuditOrigin, event: AuditEvent): Promise<void> {
  await sql.query(
    `INSERT INTO audit_event (actor, request_id, address, project_id, action, subject)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [...auditParameters(origin), event.projectId ?? null, event.action, event.subject],
  );
}

/**
 * The same as a part of a larger statement: an INSERT of one line for each row of `source`, a common table
 * expression with the columns `project_id` and `id`, which becomes the subject. {@link auditParameters} are bound
 * from `$first` on.
 */
export function auditInsert(action: string, source: string, first: number): string {
  return `INSERT INTO audit_event (actor, request_id, address, project_id, action, subject)
    SELECT $${first}::text, $${first + 1}::text, $${first + 2}::text, project_id, '${action}', id::text
    FROM ${source}`;
}

/** The three parameters of {@link auditInsert}. */
export function auditParameters(origin: AuditOrigin): [string, string | null, string | null] {
  return [origin.actor, origin.requestId ?? null, origin.address ?? null];
}
