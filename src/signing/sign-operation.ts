import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import { requestedSessions } from "../chain/events.ts";
import type { LandedTransaction, OperationKind } from "../chain/operation.ts";
import type { NetworkReader } from "../chain/reader.ts";
import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import { markDWalletLeft } from "../onboarding/custody/custody-state.ts";
import { presignMoves } from "../presigns/presign-moves.ts";
import { equalBytes } from "../protocol/bytes.ts";
import { MixedUpAnswerError } from "../protocol/read-errors.ts";
import { sessionIdentifierPreimage } from "../protocol/session-identifier.ts";
import { isNotHeld } from "../protocol/treasury-custody.ts";
import { bytea, number, text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { execute, readRows } from "../store/statements.ts";
import { failSignRequest } from "./fail-sign-request.ts";
import type { SignObserver } from "./sign-observer.ts";

/**
 * Requests signatures: queued -> submitted once landed. If it can never land, the request fails with a refund and the
 * presign is burnt. If the Treasury does not hold the dWallet's capability, the dWallet has left. The mark on the chain
 * is the session, whose identifier is derived from the request's id.
 */
export function createSignOperation({
  signals,
  reader,
  senderAddress,
  batchCount,
  refundsPerDay,
  observer,
}: SignOperationOptions): OperationKind<SignSubject> {
  return {
    name: "sign",
    priority: SIGN_PRIORITY,
    batchCount,
    async load(db, subjectIds) {
      const rows = await readRows<SignSubject>(
        db,
        sql`SELECT r.id, d.id AS "dwalletRowId", d.object_id AS "dwalletId", p.presign_id AS "presignId", r.curve,
                   r.signature_algorithm AS "signatureAlgorithm", r.hash_scheme AS "hashScheme", r.message,
                   r.user_sign_message AS "userSignMessage"
            FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id JOIN presign p ON p.id = r.presign_id
            WHERE r.id = ANY(${subjectIds}::uuid[])`,
        {
          id: text,
          dwalletRowId: text,
          dwalletId: text,
          presignId: text,
          curve: number,
          signatureAlgorithm: number,
          hashScheme: number,
          message: bytea,
          userSignMessage: bytea,
        },
      );
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: (subject) => subject.message.length + subject.userSignMessage.length + OVERHEAD_BYTES,
    add(calls, subjects) {
      for (const { id, dwalletRowId: _, ...call } of subjects) {
        calls.paySign({
          ...call,
          sessionBytes: signSessionBytes(id),
          requestReference: new TextEncoder().encode(id),
        });
      }
    },
    landed,
    async failed(db, subject, failure) {
      const isOwnersDoing = isNotHeld(failure.abort);
      const { reason, message } = isOwnersDoing ? NOT_HELD : failure;
      const why = { from: "queued", reason, message, isOwnersDoing } as const;
      const isMoved = await failSignRequest(db, subject.id, isOwnersDoing ? { ...why, refundsPerDay } : why);
      if (isOwnersDoing) await markDWalletLeft(db, subject.dwalletRowId);
      if (isMoved) observer?.failed(reason);
    },
    async adopt(db, subject) {
      const transaction = await reader.sessionRequest(
        sessionIdentifierPreimage(signSessionBytes(subject.id), senderAddress),
      );
      if (transaction === undefined) return false;
      await landed(db, [subject], transaction);
      return true;
    },
    ended: (signRequestId) => signals.notify(topics.sign(signRequestId)),
  };

  async function landed(
    db: Queryable,
    subjects: readonly SignSubject[],
    transaction: LandedTransaction,
  ): Promise<void> {
    const byPresign = sessionsByPresign(transaction);
    const signSessionIds = subjects.map((subject) => {
      const session = byPresign.get(subject.presignId);
      if (session !== undefined && isOf(session, subject)) return session.sign_id;
      const message = `transaction ${transaction.digest} requested no signature for ${subject.id}`;
      throw new MixedUpAnswerError("transaction", message);
    });
    const ids = subjects.map(({ id }) => id);
    await execute(
      db,
      sql`
WITH submitted AS (
  UPDATE sign_request r SET status = 'submitted', tx_digest = ${transaction.digest}, sign_session_id = news.session_id,
                            updated_at = now()
  FROM unnest(${ids}::uuid[], ${signSessionIds}::text[]) AS news (id, session_id)
  WHERE r.id = news.id AND r.status = 'queued' RETURNING r.presign_id
)
${presignMoves.use(sql`submitted`)}`,
    );
  }
}

const NOT_HELD = {
  reason: "DWALLET_LEFT",
  message: "the Treasury does not hold the dWallet's capability: the dWallet has left the service",
} as const;

/** Signatures come before all other operations: a user waits, and has paid. */
export const SIGN_PRIORITY = 10;

export interface SignSubject {
  readonly id: string;
  readonly dwalletRowId: string;
  /** The id of the dWallet's object. */
  readonly dwalletId: string;
  /** The id of the presign's object. */
  readonly presignId: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly message: Uint8Array;
  readonly userSignMessage: Uint8Array;
}

export interface SignOperationOptions {
  readonly signals: Pick<Signals, "notify">;
  readonly reader: Pick<NetworkReader, "sessionRequest">;
  /** The address that sends the transactions. Sessions are bound to it. */
  readonly senderAddress: string;
  /** The maximum number of signatures in one transaction. */
  readonly batchCount: number;
  /**
   * The maximum number of refunds of a project on one day (UTC) for dWallets that their owners have taken out of the
   * Treasury: each such request uses up a presign.
   */
  readonly refundsPerDay: number;
  readonly observer?: SignObserver | undefined;
}

/** The size of ids, numbers, session bytes and the command itself. */
const OVERHEAD_BYTES = 400;

type SignSessionData = ReturnType<typeof requestedSessions<"SignRequestEvent">>[number]["data"];

/** Returns the sign sessions that a transaction requested, by the presign that each one uses. */
function sessionsByPresign({ events }: LandedTransaction): ReadonlyMap<string, SignSessionData> {
  const sessions = requestedSessions(events, "SignRequestEvent");
  return new Map(sessions.map(({ data }) => [data.presign_id, data]));
}

/** Returns whether the session signs exactly the subject's message with its dWallet. */
function isOf(session: SignSessionData, subject: SignSubject): boolean {
  return (
    session.dwallet_id === subject.dwalletId &&
    session.curve === subject.curve &&
    session.signature_algorithm === subject.signatureAlgorithm &&
    session.hash_scheme === subject.hashScheme &&
    equalBytes(Uint8Array.from(session.message), subject.message) &&
    equalBytes(Uint8Array.from(session.message_centralized_signature), subject.userSignMessage)
  );
}

/**
 * Returns the bytes that name the request's session on the chain. They are derived from the id, so every process that
 * sends the request names the same session, and the chain accepts a session once.
 */
function signSessionBytes(signRequestId: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(`tss/sign/${signRequestId}`).digest());
}
