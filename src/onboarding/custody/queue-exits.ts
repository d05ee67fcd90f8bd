import sql from "sql-template-tag";
import { operationInsert } from "../../chain/operation.ts";
import { text } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { newId } from "../../store/ids.ts";
import { readRows } from "../../store/statements.ts";
import { CONSENT_PRIORITY } from "./consent-operation.ts";

/**
 * Puts the network's oldest exit whose dWallet has no open sign request into the outbox. An exit that has waited longer
 * than `settleMaxMs` goes regardless of open requests. Returns whether it queued one.
 */
export async function queueExit(
  db: Queryable,
  network: string,
  settleMaxMs: number = SETTLE_MAX_MS,
): Promise<boolean> {
  const [queued] = await readRows(db, queueSettled(network, settleMaxMs), { id: text });
  return queued !== undefined;
}

/**
 * The longest wait for a dWallet's sign requests. Then the exit goes to the chain anyway. A request that is not on the
 * chain by then fails there and is refunded. A request that is on the chain ends without the capability.
 */
const SETTLE_MAX_MS = 600_000;

const queueSettled = (network: string, settleMaxMs: number) => sql`
WITH settled AS (
  SELECT c.id FROM treasury_consent c
  WHERE c.network = ${network} AND c.state = 'settling'
    AND (c.created_at < now() - ${settleMaxMs}::float8 * interval '1 millisecond' OR NOT EXISTS (
      SELECT 1 FROM sign_request r
      WHERE r.dwallet_id = c.dwallet_id AND r.status IN ('prepared', 'queued', 'submitted')))
  ORDER BY c.id LIMIT 1 FOR UPDATE OF c SKIP LOCKED
), queued AS (
  UPDATE treasury_consent c SET state = 'queued', updated_at = now() FROM settled s WHERE c.id = s.id
  RETURNING c.id, c.network
), asked AS (
  SELECT ${newId()}::uuid AS operation_id, network, id AS subject_id FROM queued
), operation AS (${operationInsert({ kind: "consent", priority: CONSENT_PRIORITY }, sql`asked`)})
SELECT id FROM queued`;
