import sql from "sql-template-tag";
import { MixedUpAnswerError } from "../../../protocol/chain/read-errors.ts";
import { dwalletExits, isNotHeld, refusedReleases } from "../../../protocol/chain/treasury-custody.ts";
import type {
  ChainEvent,
  LandedTransaction,
  OperationFailure,
  OperationKind,
} from "../../chain/operation.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { execute, type Queryable } from "../../platform/store/database.ts";
import { type ConsentRow, consentOfRow, readConsents } from "./consent-row.ts";
import { markDWalletLeft, readCustody } from "./custody-state.ts";

/**
 * Sends the consents of dWallet owners to the Treasury: queued -> landed, or failed if the chain refuses one. After a
 * failure the dWallet gets the state that matches the Treasury. The mark on the chain is the event of the transaction
 * that last wrote the dWallet's number of consents, regardless of its sender.
 */
export function createConsentOperation({
  reader,
  treasuryId,
}: {
  readonly reader: Pick<NetworkReader, "getObjects" | "ownedObjects" | "transaction">;
  readonly treasuryId: string;
}): OperationKind<ConsentRow> {
  return {
    name: "consent",
    priority: CONSENT_PRIORITY,
    batchCount: BATCH_COUNT,
    async load(db, subjectIds) {
      const rows = await readConsents(db, subjectIds);
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: () => SIZE_BYTES,
    add(calls, subjects) {
      for (const row of subjects) {
        const { publicKey, signature } = row;
        calls.useConsent({ ...consentOfRow(row), publicKey, signature });
      }
    },
    async landed(db, subjects, transaction) {
      for (const row of subjects) {
        if (!isUsedBy(transaction.events, row))
          throw new MixedUpAnswerError(
            "transaction",
            `transaction ${transaction.digest} used no consent ${row.id}`,
          );
        await land(db, row, transaction);
      }
    },
    failed,
    async adopt(db, row) {
      const transaction = await findUse(row);
      if (transaction === undefined) return false;
      await land(db, row, transaction);
      return true;
    },
  };

  /** Returns the transaction that used this consent, or another one with the same effect. */
  async function findUse(row: ConsentRow): Promise<LandedTransaction | undefined> {
    const { nonceEntryId } = await readCustody(reader, treasuryId, row.dwalletId);
    const digest = (await reader.ownedObjects([nonceEntryId])).get(nonceEntryId)?.lastChange;
    if (digest === undefined) return undefined;
    const outcome = await reader.transaction(digest);
    if (outcome?.kind !== "landed" || !isUsedBy(outcome.transaction.events, row)) return undefined;
    return outcome.transaction;
  }
}

/**
 * Consents come after signatures, so that a dWallet's submitted signatures go before its exit. They come before all
 * operations that no user waits for.
 */
export const CONSENT_PRIORITY = 15;

const SIZE_BYTES = 400;
const BATCH_COUNT = 10;

function isUsedBy(events: readonly ChainEvent[], row: ConsentRow): boolean {
  const { treasuryId, dwalletId, recipient } = row;
  if (row.action === "refuse")
    return refusedReleases(events).some((e) => e.treasuryId === treasuryId && e.dwalletId === dwalletId);
  return dwalletExits(events).some(
    (exit) => exit.treasuryId === treasuryId && exit.dwalletId === dwalletId && exit.recipient === recipient,
  );
}

async function land(db: Queryable, row: ConsentRow, { digest, version }: LandedTransaction): Promise<void> {
  await execute(
    db,
    sql`UPDATE treasury_consent SET state = 'landed', tx_digest = ${digest}, updated_at = now()
        WHERE id = ${row.id} AND state = 'queued'`,
  );
  if (row.action === "leave") await markDWalletLeft(db, row.dwalletRowId, { txDigest: digest, version });
}

async function failed(
  db: Queryable,
  row: ConsentRow,
  { reason, message, abort }: OperationFailure,
): Promise<void> {
  await execute(
    db,
    sql`UPDATE treasury_consent SET state = 'failed', failure_reason = ${reason}, failure_message = ${message},
          updated_at = now() WHERE id = ${row.id} AND state = 'queued'`,
  );
  if (isNotHeld(abort)) await markDWalletLeft(db, row.dwalletRowId);
  else if (row.action === "leave") await stay(db, row);
}

/** Lets the dWallet sign again, because the Treasury still holds the capability. */
async function stay(db: Queryable, { dwalletRowId }: ConsentRow): Promise<void> {
  await execute(
    db,
    sql`UPDATE dwallet SET state = 'Active', updated_at = now() WHERE id = ${dwalletRowId} AND state = 'Leaving'`,
  );
}
