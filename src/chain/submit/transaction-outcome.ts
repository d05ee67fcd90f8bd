import sql from "sql-template-tag";
import type { Queryable } from "../../store/database.ts";
import { execute } from "../../store/statements.ts";
import type { TransactionOutcome } from "../outcome.ts";

/** Returns true if this database has stored the transaction, which makes it the service's own. */
export async function isKnownTransaction(db: Queryable, digest: string): Promise<boolean> {
  return (await execute(db, sql`SELECT 1 FROM chain_transaction WHERE digest = ${digest}`)) > 0;
}

/** Returns true if this database knows the transaction's outcome. */
export async function isResolvedTransaction(db: Queryable, digest: string): Promise<boolean> {
  const resolved = sql`SELECT 1 FROM chain_transaction WHERE digest = ${digest} AND state <> 'stored'`;
  return (await execute(db, resolved)) > 0;
}

/** Stores the outcome of a transaction. Returns false if another process has already stored it. */
export async function resolveTransaction(
  db: Queryable,
  digest: string,
  outcome: { state: "landed" | "aborted" | "dropped"; gasUsedMist?: bigint; error?: string },
): Promise<boolean> {
  const resolvedCount = await execute(
    db,
    sql`UPDATE chain_transaction SET state = ${outcome.state}, gas_used_mist = ${outcome.gasUsedMist ?? null},
          error = ${outcome.error ?? null}, resolved_at = now()
        WHERE digest = ${digest} AND state = 'stored' RETURNING digest`,
  );
  return resolvedCount === 1;
}

/** Stores the outcome of a transaction that was wrongly marked as dropped. Returns false if it was not so marked. */
export async function correctDropped(
  db: Queryable,
  digest: string,
  outcome: TransactionOutcome,
): Promise<boolean> {
  const correctedCount = await execute(
    db,
    sql`UPDATE chain_transaction SET state = ${outcome.kind}, gas_used_mist = ${outcome.gasUsedMist}, error = NULL
        WHERE digest = ${digest} AND state = 'dropped' RETURNING digest`,
  );
  return correctedCount === 1;
}
