import sql from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import type { Queryable } from "../store/database.ts";
import { execute } from "../store/statements.ts";

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
 * project or when the balance would fall below the held amount.
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
