import sql from "sql-template-tag";
import { auditInsert, SYSTEM_ORIGIN } from "../../audit/audit-event.ts";
import type { Queryable } from "../../store/database.ts";
import { execute } from "../../store/statements.ts";

/**
 * Records that the Treasury does not hold the dWallet's capability: Active or Leaving -> Left. From then on nothing is
 * reserved, and no reservation is charged. Returns whether the state changed.
 */
export async function markDWalletLeft(
  db: Queryable,
  dwalletRowId: string,
  { txDigest, version }: Leaving = {},
): Promise<boolean> {
  const markedCount = await execute(
    db,
    sql`
WITH marked AS (
  UPDATE dwallet SET state = 'Left', leave_tx_digest = coalesce(${txDigest ?? null}::text, leave_tx_digest),
    left_version = ${version ?? null}::bigint, updated_at = now()
  WHERE id = ${dwalletRowId} AND state IN ('Active', 'Leaving') RETURNING id, project_id
), audited AS (${auditInsert("dwallet.left", sql`marked`, SYSTEM_ORIGIN)})
SELECT id FROM marked`,
  );
  return markedCount > 0;
}

/** The known facts about a capability that has left the Treasury. */
export interface Leaving {
  /** The transaction that took it out. */
  readonly txDigest?: string;
  /** A version of the Treasury that does not hold it. */
  readonly version?: bigint;
}

/**
 * Records a version of the Treasury that does not hold the capability of a Left dWallet, unless one is recorded
 * already.
 */
export async function noteLeftVersion(db: Queryable, dwalletRowId: string, version: bigint): Promise<void> {
  await execute(
    db,
    sql`UPDATE dwallet SET left_version = ${version} WHERE id = ${dwalletRowId} AND state = 'Left' AND left_version IS NULL`,
  );
}

/**
 * Records that the Treasury holds the dWallet's capability again: Left -> Active. Changes nothing unless `version`,
 * that of the capability's entry, is newer than the recorded version of the Treasury that did not hold it. Returns
 * whether the state changed.
 */
export async function markDWalletHeld(
  db: Queryable,
  dwalletRowId: string,
  version: bigint,
): Promise<boolean> {
  const markedCount = await execute(
    db,
    sql`
WITH marked AS (
  UPDATE dwallet SET state = 'Active', leave_tx_digest = NULL, left_version = NULL, updated_at = now()
  WHERE id = ${dwalletRowId} AND state = 'Left' AND (left_version IS NULL OR left_version < ${version}) RETURNING id, project_id
), audited AS (${auditInsert("dwallet.return", sql`marked`, SYSTEM_ORIGIN)})
SELECT id FROM marked`,
  );
  return markedCount > 0;
}
