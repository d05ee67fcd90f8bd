import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import { equalBytes } from "../../../protocol/bytes.ts";
import { MixedUpAnswerError } from "../../../protocol/chain/read-errors.ts";
import { sessionIdentifierPreimage } from "../../../protocol/chain/session-identifier.ts";
import { isNotHeld } from "../../../protocol/chain/treasury-custody.ts";
import { requestedSessions } from "../../chain/events.ts";
import type { LandedTransaction, OperationKind } from "../../chain/operation.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { bytea, number, text } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import { markDWalletLeft } from "../custody/custody-state.ts";
import { ONBOARDING_PRIORITY } from "../onboarding-deps.ts";
import { failShare } from "./share-state.ts";

/**
 * Sends shares for other users through the Treasury: Submitting -> AwaitingNetworkVerification once landed, or Failed
 * with a refund if it can never land. The mark on the chain is the session, whose identifier is derived from the row's id.
 */
export function createShareOperation(
  reader: Pick<NetworkReader, "sessionRequest">,
  senderAddress: string,
): OperationKind<ShareSubject> {
  return {
    name: "share",
    priority: ONBOARDING_PRIORITY,
    batchCount: BATCH_COUNT,
    async load(db, subjectIds) {
      const rows = await readRows<ShareSubject>(
        db,
        sql`SELECT s.id, d.id AS "dwalletRowId", d.object_id AS "dwalletId", d.curve,
              k.signer_address AS "recipientAddress", s.encrypted_user_share_and_proof AS "encryptedUserShareAndProof",
              s.source_share_id AS "sourceShareId"
            FROM dwallet_share s JOIN dwallet d ON d.id = s.dwallet_id
              JOIN encryption_key k ON k.id = s.encryption_key_id
            WHERE s.id = ANY(${subjectIds}::uuid[])`,
        {
          id: text,
          dwalletRowId: text,
          dwalletId: text,
          curve: number,
          recipientAddress: text,
          encryptedUserShareAndProof: bytea,
          sourceShareId: text,
        },
      );
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: ({ encryptedUserShareAndProof }) => encryptedUserShareAndProof.length + OVERHEAD_BYTES,
    add(calls, subjects) {
      for (const { id, dwalletRowId: _, ...call } of subjects) {
        calls.payShare({
          ...call,
          sessionBytes: shareSessionBytes(id),
          requestReference: new TextEncoder().encode(id),
        });
      }
    },
    async landed(db, subjects, transaction) {
      for (const subject of subjects) await landed(db, subject, transaction);
    },
    async failed(db, { id, dwalletRowId }, { reason, abort }) {
      const hasLeft = isNotHeld(abort);
      await failShare(db, id, {
        from: "Submitting",
        to: "Failed",
        reason: hasLeft ? "DWALLET_LEFT" : reason,
      });
      if (hasLeft) await markDWalletLeft(db, dwalletRowId);
    },
    async adopt(db, subject) {
      const preimage = sessionIdentifierPreimage(shareSessionBytes(subject.id), senderAddress);
      const transaction = await reader.sessionRequest(preimage);
      if (transaction === undefined) return false;
      await landed(db, subject, transaction);
      return true;
    },
  };
}

interface ShareSubject {
  readonly id: string;
  readonly dwalletRowId: string;
  readonly dwalletId: string;
  readonly curve: number;
  readonly recipientAddress: string;
  readonly encryptedUserShareAndProof: Uint8Array;
  readonly sourceShareId: string;
}

const OVERHEAD_BYTES = 400;
const BATCH_COUNT = 8;

/** The chain accepts a session once, so whoever sends the row's request again cannot pay twice. */
function shareSessionBytes(id: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(`tss/share/${id}`).digest());
}

async function landed(
  db: Queryable,
  { id, dwalletId, encryptedUserShareAndProof }: ShareSubject,
  { digest, events }: LandedTransaction,
): Promise<void> {
  const session = requestedSessions(events, "EncryptedShareVerificationRequestEvent").find(
    ({ data }) =>
      data.dwallet_id === dwalletId &&
      equalBytes(
        Uint8Array.from(data.encrypted_centralized_secret_share_and_proof),
        encryptedUserShareAndProof,
      ),
  );
  if (session === undefined)
    throw new MixedUpAnswerError("transaction", `transaction ${digest} requested no share for ${id}`);
  await execute(
    db,
    sql`UPDATE dwallet_share SET state = 'AwaitingNetworkVerification', tx_digest = ${digest},
          object_id = ${session.data.encrypted_user_secret_key_share_id}, updated_at = now()
        WHERE id = ${id} AND state = 'Submitting'`,
  );
}
