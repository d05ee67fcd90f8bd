import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import { execute, type Queryable } from "../platform/store/database.ts";

/**
 * Books credit with its ledger entry `credit:<reference>`. Returns false and changes nothing if the project does not
 * exist or the balance would fall below the held amount.
 */
export async function creditProject(
  db: Queryable,
  origin: AuditOrigin,
  { projectId, amountMicroUsd, reference, description }: Credit,
): Promise<boolean> {
  const bookedCount = await execute(
    db,
    sql`WITH changed AS (
          UPDATE project SET balance_micro_usd = balance_micro_usd + ${amountMicroUsd}::bigint
          WHERE id = ${projectId} AND balance_micro_usd + ${amountMicroUsd}::bigint >= held_micro_usd RETURNING id
        ), entry AS (
          INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
          SELECT id, ${amountMicroUsd}::bigint, 'credit', 'credit:' || ${reference}::text, ${description}::text
          FROM changed RETURNING id, project_id
        ), audited AS (${auditInsert("project.credit", sql`entry`, origin)})
        SELECT id FROM entry`,
  );
  return bookedCount > 0;
}

export interface Credit {
  readonly projectId: string;
  /** Negative to withdraw credit. */
  readonly amountMicroUsd: bigint;
  /** The reason of the credit. The same reference is booked once; a second booking raises a unique violation. */
  readonly reference: string;
  readonly description: string;
}
