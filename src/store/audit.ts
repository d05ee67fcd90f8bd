import type { Sql } from "./database.ts";

/** Who does something, as far as the audit trail knows. */
export interface AuditOrigin {
  /** `key:<id>`, `admin` or `system`. */
  readonly actor: string;
  readonly requestId?: string | undefined;
  /** The caller's network address. */
  readonly address?: string | undefined;
}

/** One line of the audit trail. */
export interface AuditEvent extends AuditOrigin {
  readonly projectId?: string | undefined;
  /** A verb and its object, like `project.create`. */
  readonly action: string;
  /** The id of what was acted on. */
  readonly subject: string;
}

/** Writes one line. Call it in the transaction of the change that it tells of. */
export async function writeAuditEvent(sql: Sql, event: AuditEvent): Promise<void> {
  await sql.query(
    `INSERT INTO audit_event (actor, project_id, action, subject, request_id, address)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [
      event.actor,
      event.projectId ?? null,
      event.action,
      event.subject,
      event.requestId ?? null,
      event.address ?? null,
    ],
  );
}
