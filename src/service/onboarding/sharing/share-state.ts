import sql from "sql-template-tag";
import { parseEncryptedShare } from "../../../protocol/chain/chain-objects.ts";
import { MixedUpAnswerError } from "../../../protocol/chain/read-errors.ts";
import { budgetReturn } from "../../access/allowances/budgets.ts";
import { auditInsert, SYSTEM_ORIGIN } from "../../audit/audit-event.ts";
import { readOpenSessions, type SessionKind } from "../../chain/session.ts";
import { postings } from "../../ledger/postings.ts";
import { text } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import { holderEventInsert } from "./holder-event.ts";

/** Waits for the network to verify shares for other users. Refunds rejected ones within the project's daily budget. */
export function createShareSession(network: string, refundsPerDay: number): SessionKind {
  return {
    name: "share",
    requestedBy: "share",
    open: (database, { after, limit }) =>
      readOpenSessions(
        database,
        sql`SELECT id::text AS "subjectId", object_id AS "objectId" FROM dwallet_share
            WHERE network = ${network} AND state = 'AwaitingNetworkVerification' AND id > ${after}::uuid
            ORDER BY dwallet_share.id LIMIT ${limit}`,
      ),
    settle: (database, { subjectId }, content) =>
      recordShareState(database, subjectId, content, refundsPerDay),
  };
}

/**
 * Writes the state on the chain into the row. Returns true once the network has verified or rejected the share. Throws
 * MixedUpAnswerError and writes nothing if the content belongs to another share.
 */
export async function recordShareState(
  db: Queryable,
  id: string,
  content: Uint8Array,
  refundsPerDay: number,
): Promise<boolean> {
  const share = parseEncryptedShare(content);
  await checkShare(db, id, share);
  switch (share.state.kind) {
    case "NetworkVerificationCompleted":
      await execute(
        db,
        sql`UPDATE dwallet_share SET state = 'AwaitingAcceptance', updated_at = now()
            WHERE id = ${id} AND state = 'AwaitingNetworkVerification'`,
      );
      return true;
    case "KeyHolderSigned":
      await markAccepted(db, id, null);
      return true;
    case "NetworkVerificationRejected":
      await failShare(db, id, {
        from: "AwaitingNetworkVerification",
        to: "NetworkVerificationRejected",
        reason: "NETWORK_REJECTED",
        refundsPerDay,
      });
      return true;
    default:
      return false;
  }
}

/** Throws if the object is not the one that the row's request created. */
async function checkShare(
  db: Queryable,
  id: string,
  share: ReturnType<typeof parseEncryptedShare>,
): Promise<void> {
  const [row] = await readRows(
    db,
    sql`SELECT s.object_id AS "objectId", d.object_id AS "dwalletId", k.signer_address AS "recipientAddress"
        FROM dwallet_share s JOIN dwallet d ON d.id = s.dwallet_id JOIN encryption_key k ON k.id = s.encryption_key_id
        WHERE s.id = ${id} AND s.object_id IS NOT NULL`,
    { objectId: text, dwalletId: text, recipientAddress: text },
  );
  const isSame =
    row?.objectId === share.id &&
    row.dwalletId === share.dwalletId &&
    row.recipientAddress === share.encryptionKeyAddress;
  if (!isSame) throw new MixedUpAnswerError("session", `share ${share.id} is not the one of row ${id}`);
}

/**
 * Records that the recipient has accepted the share, and lets the recipient's user sign. A removed share stays removed.
 * It locks the dWallet before the share, as the removal of a holder does.
 */
export async function markAccepted(db: Queryable, id: string, digest: string | null): Promise<void> {
  await execute(
    db,
    sql`
WITH locked AS MATERIALIZED (
  SELECT d.id FROM dwallet d WHERE d.id = (SELECT dwallet_id FROM dwallet_share WHERE id = ${id}) FOR UPDATE
), changed AS (
  UPDATE dwallet_share s SET state = 'Accepted', accept_tx_digest = ${digest}, accepted_at = now(), updated_at = now()
  FROM locked WHERE s.id = ${id} AND s.dwallet_id = locked.id
    AND s.state IN ('AwaitingNetworkVerification', 'AwaitingAcceptance')
  RETURNING s.dwallet_id, s.encryption_key_id, s.user_reference
), noted AS (${holderEventInsert("dwallet.shared", sql`changed`)})
UPDATE dwallet d SET holder_users = array_append(array_remove(d.holder_users, c.user_reference), c.user_reference),
  updated_at = now()
FROM changed c WHERE d.id = c.dwallet_id AND c.user_reference IS NOT NULL`,
  );
}

/** Fails a share and refunds its price, once and within the budget, in one statement. */
export async function failShare(
  db: Queryable,
  id: string,
  { from, to, reason, refundsPerDay }: ShareFailure,
): Promise<void> {
  await execute(
    db,
    sql`
WITH request AS (
  SELECT id, project_id, price_micro_usd, allowance_id, allowance_slot, ${refundsPerDay ?? null}::integer AS refunds_per_day
  FROM dwallet_share WHERE id = ${id} AND state = ${from} FOR UPDATE
), ${postings.refund(sql`request`, "share")}, ${budgetReturn(sql`request`, sql`posting_refund`)}, failed AS (
  UPDATE dwallet_share d SET state = ${to}, failure_reason = ${reason}, refunded = p.id IS NOT NULL, updated_at = now()
  FROM request s LEFT JOIN posting_refund p USING (id) WHERE d.id = s.id
), refunded AS (
  SELECT id, project_id FROM request JOIN posting_refund USING (id)
)
${auditInsert("dwallet.share-refund", sql`refunded`, SYSTEM_ORIGIN)}`,
  );
}

interface ShareFailure {
  /** The state that the share must be in. */
  readonly from: "Submitting" | "AwaitingNetworkVerification";
  readonly to: "Failed" | "NetworkVerificationRejected";
  readonly reason: string;
  /** The maximum number of refunds of a project on one day (UTC), as for a dWallet. Undefined: always refunded. */
  readonly refundsPerDay?: number;
}
