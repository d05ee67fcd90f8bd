import type { Database } from "../../../src/service/platform/store/database.ts";
import { objectId } from "./rows.ts";

/** Moves a request's last change and its operation's end this many days into the past. */
export async function ageRequest(database: Database, id: string, days: number): Promise<void> {
  await database.query(
    "UPDATE sign_request SET updated_at = updated_at - $2 * interval '1 day' WHERE id = $1",
    [id, days],
  );
}

/** Ends the operation of a request, as the submitter does with its transaction. */
export async function endOperation(database: Database, id: string, state = "landed"): Promise<void> {
  await database.query("UPDATE chain_operation SET state = $2 WHERE kind = 'sign' AND subject_id = $1", [
    id,
    state,
  ]);
}

/**
 * Creates a transaction with bytes and a signature. The time of its outcome is `days` ago even if it has no outcome, so
 * that only its state distinguishes it. Returns its digest.
 */
export async function oldTransaction(
  database: Database,
  { state = "landed", days = 31 }: { state?: string; days?: number } = {},
): Promise<string> {
  const digest = objectId();
  await database.query(
    `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, signatures, state, sends, gas_used_mist,
                                    created_at, resolved_at)
     VALUES ($1, 'localnet', 'sender', $1, '\\x0102', ARRAY['signature'], $2, 1, 7, now() - $3 * interval '1 day',
             now() - $3 * interval '1 day')`,
    [digest, state, days],
  );
  return digest;
}
