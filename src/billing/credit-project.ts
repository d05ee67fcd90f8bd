import { type AuditOrigin, auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";

/** A change of a project's credit. */
export interface Credit {
  readonly projectId: string;
  /** Negative to take credit away. */
  readonly amountMicroUsd: bigint;
  /** What the credit is for; the same reference is booked once and raises a unique violation after that. */
  readonly reference: string;
  /** For people. */
  readonly description: string;
}

/**
 * Books credit with its ledger entry `credit:<reference>`. Returns false, and changes nothing, when there is no such
 * project or when the balance would fall below what is held.
 */
export async function creditProject(
  sql: Sql,
  origin: AuditOrigin,
  { projectId, amountMicroUsd, reference, description }: Credit,
): Promise<boolean> {
  const booked = await sql.query<{ id: bigint }>(
    `WITH changed AS (
       UPDATE project SET balance_micro_usd = balance_micro_usd + $2
       WHERE id = $1 AND balance_micro_usd + $2 >= held_micro_usd RETURNING id
     ), entry AS (
       INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
       SELECT id, $2, 'credit', 'credit:' || $3, $4 FROM changed RETURNING id, project_id
     ), audited AS (${auditInsert("project.credit", "entry", 5)})
     SELECT id FROM entry`,
    [projectId, amountMicroUsd, reference, description, ...auditParameters(origin)],
  );
  return booked.length > 0;
}
