import sql from "sql-template-tag";
import type { Queryable } from "../../store/database.ts";
import { execute } from "../../store/statements.ts";

/**
 * Empties the bytes and signatures of at most `maxCount` transactions whose outcome is at least `days` days old, the
 * oldest first. Returns their number. Afterwards only the chain has their contents, by digest.
 */
export async function emptyTransactions(db: Queryable, days: number, maxCount: number): Promise<number> {
  return execute(db, empty(days, maxCount));
}

const empty = (days: number, maxCount: number) => sql`
UPDATE chain_transaction SET bytes = '', signatures = '{}' WHERE ctid = ANY(ARRAY(
  SELECT ctid FROM chain_transaction
  WHERE state <> 'stored' AND octet_length(bytes) > 0
    AND resolved_at <= statement_timestamp() - ${days} * interval '1 day'
  ORDER BY resolved_at LIMIT ${maxCount} FOR UPDATE SKIP LOCKED
)) RETURNING digest`;
