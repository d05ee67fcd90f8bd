import { createHash } from "node:crypto";
import sql, { empty, join, type Sql } from "sql-template-tag";
import { CURVE_ALGORITHMS, type CurveAlgorithm } from "../../protocol/algorithms.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { sessionIdentifierPreimage } from "../../protocol/chain/session-identifier.ts";
import { isNotHeld } from "../../protocol/chain/treasury-custody.ts";
import { isEcdsa } from "../../protocol/signatures/signature-forms.ts";
import { budgetReturn } from "../access/allowances/budgets.ts";
import { auditInsert, auditInsertWithMoney, SYSTEM_ORIGIN } from "../audit/audit-event.ts";
import { requestedSessions } from "../chain/events.ts";
import type { LandedTransaction, OperationKind } from "../chain/operation.ts";
import type { NetworkReader } from "../chain/reader.ts";
import { postings } from "../ledger/postings.ts";
import { markDWalletLeft } from "../onboarding/custody/custody-state.ts";
import { isImportedKey } from "../onboarding/dwallet-kind.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { bytea, type Columns, number, text } from "../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../platform/store/database.ts";
import { presignMoves } from "../presigns/presign-moves.ts";
import { signEventInsert } from "./sign-event.ts";

/**
 * Requests signatures: queued -> submitted once landed. If it can never land, the request fails with a refund and the
 * presign is burnt. If the Treasury does not hold the dWallet's capability, the dWallet has left. The mark on the chain
 * is the session, whose identifier is derived from the request's id. The kind `partial_sign` does the same with a half
 * that the Treasury keeps and that was released.
 */
export function createSignOperation({
  signals,
  reader,
  senderAddress,
  batchCount,
  refundsPerDay,
  observer,
  name = "sign",
}: SignOperationOptions): OperationKind<SignSubject> {
  return {
    name,
    priority: SIGN_PRIORITY,
    batchCount,
    async load(db, subjectIds) {
      const rows = await readRows<SignSubject>(db, signSubjects(subjectIds), SIGN_SUBJECT);
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: (subject) => subject.message.length + subject.userSignMessage.length + SIGN_OVERHEAD_BYTES,
    add(calls, subjects) {
      for (const { id, dwalletRowId: _, dwalletKind: kind, ...parts } of subjects) {
        const call = {
          ...parts,
          sessionBytes: signSessionBytes(id),
          requestReference: new TextEncoder().encode(id),
        };
        if (name === "partial_sign") calls.payPartialSign(call);
        else if (isImportedKey({ kind })) calls.payImportedKeySign(call);
        else calls.paySign(call);
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
    updated_at = now(), hold_state = CASE WHEN r.hold_seconds IS NOT NULL THEN 'released' END
  FROM unnest(${ids}::uuid[], ${signSessionIds}::text[]) AS news (id, session_id)
  WHERE r.id = news.id AND r.status = 'queued' RETURNING r.presign_id
)
${presignMoves.use(sql`submitted`)}`,
    );
  }
}

/** Why an operation of a dWallet fails whose capability the Treasury does not hold. */
export const NOT_HELD = {
  reason: "DWALLET_LEFT",
  message: "the Treasury does not hold the dWallet's capability: the dWallet has left the service",
} as const;

/** Signatures come before all other operations: a user waits, and has paid. */
export const SIGN_PRIORITY = 10;

/** Reads the subjects of operations of sign requests. @param more further columns, after a comma */
export function signSubjects(ids: readonly string[], more: Sql = empty): Sql {
  return sql`SELECT r.id, d.id AS "dwalletRowId", d.kind AS "dwalletKind", d.object_id AS "dwalletId",
      p.presign_id AS "presignId", r.curve, r.signature_algorithm AS "signatureAlgorithm",
      r.hash_scheme AS "hashScheme", r.message, r.user_sign_message AS "userSignMessage"${more}
    FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id JOIN presign p ON p.id = r.presign_id
    WHERE r.id = ANY(${ids}::uuid[])`;
}

export interface SignSubject {
  readonly id: string;
  readonly dwalletRowId: string;
  /** Where the dWallet's key comes from. */
  readonly dwalletKind: string;
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

/** The columns of a {@link SignSubject}. */
export const SIGN_SUBJECT: Columns<SignSubject> = {
  id: text,
  dwalletRowId: text,
  dwalletKind: text,
  dwalletId: text,
  presignId: text,
  curve: number,
  signatureAlgorithm: number,
  hashScheme: number,
  message: bytea,
  userSignMessage: bytea,
};

interface SignOperationOptions {
  /** Default: `sign`. */
  readonly name?: "sign" | "partial_sign";
  readonly signals: Signals;
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
export const SIGN_OVERHEAD_BYTES = 400;

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

/** Receives the end of each sign request once, from the replica that wrote it. */
export interface SignObserver {
  completed(times: SignTimes): void;
  /** `reason` is the request's `failure_reason`. */
  failed(reason: string): void;
}

/** How long a completed sign request was in each state; null if the database does not know. */
export interface SignTimes {
  /** From the reservation to the arrival of the user's half. */
  readonly preparedSeconds: number | null;
  /** From the arrival of the user's half until its transaction is final. */
  readonly queuedSeconds: number | null;
  /** From the finality of its transaction until the verified signature is stored. */
  readonly submittedSeconds: number | null;
}

/**
 * Fails a charged request and refunds the price, once and within the budget, in one statement. Burns a presign that was
 * not used: it was in a stored transaction and must never serve another request. Returns whether the request changed
 * its state.
 */
export async function failSignRequest(
  db: Queryable,
  id: string,
  { from, holdState, reason, message, refundsPerDay, isOwnersDoing = false }: SignFailure,
): Promise<boolean> {
  const unverified = CURVE_ALGORITHMS.filter(({ signatureAlgorithm }) => isEcdsa(signatureAlgorithm));
  const failedCount = await execute(
    db,
    sql`
WITH request AS (
  SELECT id, project_id, price_micro_usd, allowance_id, allowance_slot,
    CASE WHEN ${isOwnersDoing}::boolean OR (curve, signature_algorithm) IN (${join(unverified.map(numbersOf))})
         THEN ${refundsPerDay ?? null}::integer END AS refunds_per_day
  FROM sign_request WHERE id = ${id}
    AND (${holdState ?? null}::text IS NULL OR hold_state = ${holdState ?? null}) AND status = ${from} FOR UPDATE
), ${postings.refund(sql`request`)}, ${budgetReturn(sql`request`, sql`posting_refund`)}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = ${reason}, refunded = p.id IS NOT NULL,
    updated_at = now(), failure_message = ${message}::text
      || CASE WHEN p.id IS NULL THEN '; not refunded: the project has used up its refunds of the day' ELSE '' END
  FROM request s LEFT JOIN posting_refund p USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.presign_id, r.dwallet_id, r.failure_reason
), burnt AS (${presignMoves.burn(sql`failed`)}), noted AS (${signEventInsert("sign.failed", sql`failed`)}), refunded AS (
  SELECT id, project_id, ledger_entry_id, amount_micro_usd FROM request JOIN refund_entry USING (id)
), audited AS (${auditInsert("sign.fail", sql`failed`, SYSTEM_ORIGIN)}
), refund_audited AS (${auditInsertWithMoney("sign.refund", sql`refunded`, SYSTEM_ORIGIN)})
SELECT id FROM failed`,
  );
  return failedCount > 0;
}

interface SignFailure {
  /** The state that the request must be in. */
  readonly from: "queued" | "submitted";
  /** The state that its hold must be in. Default: any. */
  readonly holdState?: "verifying";
  /** NETWORK_REJECTED, or the reason why the operation cannot land. */
  readonly reason: string;
  /** Visible to the caller. */
  readonly message: string;
  /**
   * The maximum number of refunds that a project gets on one day (UTC) for failures that the user's half may have
   * caused. Beyond it the service keeps the price, so that invalid halves do not use up presigns for free. It applies
   * to failures that the owner of the dWallet has caused, and otherwise to ECDSA only: SubmitSign verifies every half
   * of the Schnorr family, so if the network rejects one, the user is not at fault and always gets the refund.
   * Undefined: always refunded.
   */
  readonly refundsPerDay?: number;
  /** True if the owner of the dWallet has made the signature impossible. */
  readonly isOwnersDoing?: boolean;
}

const numbersOf = ({ curveNumber, signatureAlgorithmNumber }: CurveAlgorithm): Sql =>
  sql`(${curveNumber}::integer, ${signatureAlgorithmNumber}::integer)`;
