import { bytesToHex } from "@noble/hashes/utils.js";
import sql from "sql-template-tag";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { sessionIdentifierPreimage } from "../../protocol/chain/session-identifier.ts";
import { requestedSessions } from "../chain/events.ts";
import type { LandedTransaction, OperationKind } from "../chain/operation.ts";
import type { NetworkReader } from "../chain/reader.ts";
import { boolean, bytea, text } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";
import { BUCKET_COLUMNS, bucketKey, type PresignBucket } from "./bucket.ts";
import { poolMoves } from "./presign-moves.ts";

/**
 * Requests presigns: requested -> pending once landed, or burnt if it can never land. The mark on the chain is the
 * session bytes.
 */
export function createPresignOperation({
  reader,
  senderAddress,
  batchCount,
}: PresignOperationOptions): OperationKind<PresignSubject> {
  const preimageOf = ({ sessionBytes }: PresignSubject) =>
    sessionIdentifierPreimage(sessionBytes, senderAddress);
  return {
    name: "presign",
    priority: PRESIGN_PRIORITY,
    batchCount,
    async load(db, subjectIds) {
      const rows = await readRows<PresignSubject>(
        db,
        sql`SELECT id, network, curve, signature_algorithm AS "signatureAlgorithm",
                network_encryption_key_id AS "networkEncryptionKeyId", of_dwallet AS "ofDWallet",
                session_bytes AS "sessionBytes"
         FROM presign WHERE id = ANY(${subjectIds}::uuid[])`,
        { ...BUCKET_COLUMNS, id: text, ofDWallet: boolean, sessionBytes: bytea },
      );
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: () => SIZE_BYTES,
    add(calls, subjects) {
      for (const [bucket, sessionBytes] of byBucket(subjects)) {
        const { networkEncryptionKeyId, curve, signatureAlgorithm, ofDWallet } = bucket;
        if (ofDWallet)
          calls.payDWalletPresigns({ dwalletId: networkEncryptionKeyId, signatureAlgorithm, sessionBytes });
        else calls.payPresigns({ networkEncryptionKeyId, curve, signatureAlgorithm, sessionBytes });
      }
    },
    landed,
    async failed(db, subject) {
      await execute(db, poolMoves.giveUp(subject.id));
    },
    async adopt(db, subject) {
      const transaction = await reader.sessionRequest(preimageOf(subject));
      if (transaction === undefined) return false;
      await landed(db, [subject], transaction);
      return true;
    },
  };

  async function landed(
    db: Queryable,
    subjects: readonly PresignSubject[],
    transaction: LandedTransaction,
  ): Promise<void> {
    const byPreimage = presignIdsByPreimage(transaction);
    const presignIds = subjects.map((subject) => {
      const presignId = byPreimage.get(bytesToHex(preimageOf(subject)));
      if (presignId !== undefined) return presignId;
      const message = `transaction ${transaction.digest} requested no presign for ${subject.id}`;
      throw new MixedUpAnswerError("transaction", message);
    });
    const ids = subjects.map(({ id }) => id);
    const news = sql`unnest(${ids}::uuid[], ${presignIds}::text[]) AS news (id, presign_id)`;
    await execute(db, poolMoves.land(news, transaction.digest));
  }
}

/** Presigns come after all operations that a user waits for. */
export const PRESIGN_PRIORITY = 50;

export interface PresignSubject extends PresignBucket {
  readonly id: string;
  /** Whether only one dWallet can use it. */
  readonly ofDWallet: boolean;
  readonly sessionBytes: Uint8Array;
}

export interface PresignOperationOptions {
  readonly reader: Pick<NetworkReader, "sessionRequest">;
  /** The address that sends the transactions. Sessions are bound to it. */
  readonly senderAddress: string;
  /** The maximum number of presigns in one transaction. */
  readonly batchCount: number;
}

/** The session bytes with their length. The batch shares the rest of the call. */
const SIZE_BYTES = 40;

/** Returns the presigns that a transaction requested, by the preimage of their session identifier in hex. */
function presignIdsByPreimage({ events }: LandedTransaction): ReadonlyMap<string, string> {
  const sessions = requestedSessions(events, "PresignRequestEvent");
  return new Map(sessions.map(({ preimage, data }) => [bytesToHex(preimage), data.presign_id]));
}

function byBucket(subjects: readonly PresignSubject[]): [PresignSubject, Uint8Array[]][] {
  const groups = new Map<string, [PresignSubject, Uint8Array[]]>();
  for (const subject of subjects) {
    const key = bucketKey(subject);
    const group = groups.get(key) ?? [subject, []];
    group[1].push(subject.sessionBytes);
    groups.set(key, group);
  }
  return [...groups.values()];
}
