import sql from "sql-template-tag";
import { curveOfNumber } from "../../protocol/algorithms.ts";
import { type ChainDWallet, parseDWallet } from "../../protocol/chain/chain-objects.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { publicKeyFromDWalletOutput } from "../../protocol/dwallet-output.ts";
import { budgetReturn } from "../access/allowances/budgets.ts";
import { auditInsert, SYSTEM_ORIGIN } from "../audit/audit-event.ts";
import { readOpenSessions, type SessionKind } from "../chain/session.ts";
import { postings } from "../ledger/postings.ts";
import { nullable, number, text } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";
import { dwalletEventInsert, eventColumns } from "./dwallet-event.ts";
import { isImportedKey } from "./dwallet-kind.ts";

/** Waits for the network to verify DKGs and imported keys. Refunds rejected ones within the project's daily budget. */
export function createDWalletSession(network: string, refundsPerDay: number): SessionKind {
  return {
    name: "dwallet",
    requestedBy: "dkg",
    open: (database, { after, limit }) =>
      readOpenSessions(
        database,
        sql`SELECT id::text AS "subjectId", object_id AS "objectId" FROM dwallet
            WHERE network = ${network} AND state = 'AwaitingNetworkDKGVerification' AND id > ${after}::uuid
            ORDER BY dwallet.id LIMIT ${limit}`,
      ),
    settle: (database, { subjectId }, content) =>
      recordDWalletState(database, subjectId, content, refundsPerDay),
  };
}

/**
 * Writes the state on the chain into the row. Returns true once the network has verified or rejected the DKG. Throws
 * MixedUpAnswerError and writes nothing if the content belongs to another dWallet.
 */
export async function recordDWalletState(
  db: Queryable,
  id: string,
  content: Uint8Array,
  refundsPerDay: number,
): Promise<boolean> {
  const dwallet = parseDWallet(content);
  const { state, curveNumber } = dwallet;
  switch (state.kind) {
    case "AwaitingKeyHolderSignature":
    case "Active": {
      await checkDWallet(db, id, dwallet);
      const curve = curveOfNumber(curveNumber);
      if (curve === undefined) throw new Error(`the chain has a dWallet on curve ${curveNumber}`);
      const publicKey = publicKeyFromDWalletOutput(curve, state.publicOutput);
      // A late answer must not undo Active, nor the states of a dWallet that leaves.
      await execute(
        db,
        sql`
WITH changed AS (
  UPDATE dwallet d SET state = ${state.kind}, public_output = ${state.publicOutput}, public_key = ${publicKey},
    updated_at = now()
  WHERE id = ${id} AND state NOT IN ('Active', 'Leaving', 'Left') RETURNING d.state, ${eventColumns(sql`d`)}
)
${dwalletEventInsert("dwallet.active", sql`(SELECT * FROM changed WHERE state = 'Active') AS active`)}`,
      );
      return true;
    }
    case "NetworkRejectedDKGVerification":
    case "NetworkRejectedImportedKeyVerification":
      await checkDWallet(db, id, dwallet);
      await failDWallet(db, id, {
        from: "AwaitingNetworkDKGVerification",
        to: "NetworkRejectedDKGVerification",
        reason: "NETWORK_REJECTED",
        refundsPerDay,
      });
      return true;
    default:
      return false;
  }
}

/** Throws if the object is not the one that the row's DKG created. */
async function checkDWallet(db: Queryable, id: string, dwallet: ChainDWallet): Promise<void> {
  const [row] = await readRows(
    db,
    sql`SELECT object_id AS "objectId", cap_id AS "capId", curve, kind,
               network_encryption_key_id AS "networkEncryptionKeyId"
        FROM dwallet WHERE id = ${id}`,
    { objectId: text, capId: nullable(text), curve: number, kind: text, networkEncryptionKeyId: text },
  );
  const isSame =
    row !== undefined &&
    row.objectId === dwallet.id &&
    row.curve === dwallet.curveNumber &&
    row.networkEncryptionKeyId === dwallet.networkEncryptionKeyId &&
    (row.capId === null || row.capId === dwallet.dwalletCapId) &&
    isImportedKey(row) === dwallet.isImportedKey;
  if (!isSame) throw new MixedUpAnswerError("session", `dWallet ${dwallet.id} is not the one of row ${id}`);
}

/** Fails a dWallet and refunds its price, once and within the budget, in one statement. */
export async function failDWallet(
  db: Queryable,
  id: string,
  { from, to, reason, refundsPerDay }: DWalletFailure,
): Promise<void> {
  await execute(
    db,
    sql`
WITH request AS (
  SELECT id, project_id, price_micro_usd, allowance_id, allowance_slot, ${refundsPerDay ?? null}::integer AS refunds_per_day FROM dwallet
  WHERE id = ${id} AND state = ${from} FOR UPDATE
), ${postings.refund(sql`request`, "dkg")}, ${budgetReturn(sql`request`, sql`posting_refund`)}, failed AS (
  UPDATE dwallet d SET state = ${to}, failure_reason = ${reason}, refunded = p.id IS NOT NULL, updated_at = now()
  FROM request s LEFT JOIN posting_refund p USING (id) WHERE d.id = s.id
  RETURNING ${eventColumns(sql`d`)}
), noted AS (${dwalletEventInsert("dwallet.failed", sql`failed`)}), refunded AS (
  SELECT id, project_id FROM request JOIN posting_refund USING (id)
)
${auditInsert("dwallet.refund", sql`refunded`, SYSTEM_ORIGIN)}`,
  );
}

export interface DWalletFailure {
  /** The state that the dWallet must be in. */
  readonly from: "Submitting" | "AwaitingNetworkDKGVerification";
  readonly to: "Failed" | "NetworkRejectedDKGVerification";
  readonly reason: string;
  /**
   * The maximum number of refunds, for dWallets and signatures together, that a project gets on one day (UTC) for
   * failures that the user's message may have caused. Beyond it the service keeps the price, because it has paid the
   * network. Undefined: always refunded.
   */
  readonly refundsPerDay?: number;
}
