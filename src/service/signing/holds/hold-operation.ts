import { createHash } from "node:crypto";
import sql from "sql-template-tag";
import { equalBytes } from "../../../protocol/bytes.ts";
import { MixedUpAnswerError } from "../../../protocol/chain/read-errors.ts";
import { sessionIdentifierPreimage } from "../../../protocol/chain/session-identifier.ts";
import { isNotHeld } from "../../../protocol/chain/treasury-custody.ts";
import { requestedSessions } from "../../chain/events.ts";
import type { LandedTransaction, OperationKind } from "../../chain/operation.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { markDWalletLeft } from "../../onboarding/custody/custody-state.ts";
import type { Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { number } from "../../platform/store/columns.ts";
import { execute, type Queryable, readRows } from "../../platform/store/database.ts";
import { presignMoves } from "../../presigns/presign-moves.ts";
import {
  failSignRequest,
  NOT_HELD,
  SIGN_OVERHEAD_BYTES,
  SIGN_PRIORITY,
  SIGN_SUBJECT,
  type SignObserver,
  type SignSubject,
  signSubjects,
} from "../sign-operation.ts";
import { laterThan } from "./end-held.ts";

/**
 * Sends users' halves that are held to the network: sending -> verifying once landed. If that can never land, the
 * request fails with a refund and the presign is burnt. The mark on the chain is the session, whose identifier is derived
 * from the request's id.
 */
export function createHoldOperation({
  signals,
  reader,
  senderAddress,
  refundsPerDay,
  observer,
}: HoldOperationOptions): OperationKind<HeldSubject> {
  return {
    name: "future_sign",
    priority: SIGN_PRIORITY,
    batchCount: BATCH_COUNT,
    async load(db, subjectIds) {
      const rows = await readRows<HeldSubject>(
        db,
        signSubjects(subjectIds, sql`, r.hold_seconds AS "holdSeconds"`),
        {
          ...SIGN_SUBJECT,
          holdSeconds: number,
        },
      );
      return new Map(rows.map((row) => [row.id, row]));
    },
    sizeBytes: ({ message, userSignMessage }) =>
      message.length + userSignMessage.length + SIGN_OVERHEAD_BYTES,
    add(calls, subjects) {
      for (const { id, dwalletRowId: _, dwalletKind: __, holdSeconds, ...parts } of subjects) {
        calls.payFutureSign({
          ...parts,
          epochs: epochsFor(holdSeconds),
          sessionBytes: holdSessionBytes(id),
          requestReference: new TextEncoder().encode(id),
        });
      }
    },
    async landed(db, subjects, transaction) {
      for (const subject of subjects) await landed(db, subject, transaction);
    },
    async failed(db, subject, failure) {
      const isOwnersDoing = isNotHeld(failure.abort);
      const { reason, message } = isOwnersDoing ? NOT_HELD : failure;
      const why = { from: "queued", reason, message, isOwnersDoing } as const;
      const isMoved = await failSignRequest(db, subject.id, isOwnersDoing ? { ...why, refundsPerDay } : why);
      if (isOwnersDoing) await markDWalletLeft(db, subject.dwalletRowId);
      if (isMoved) observer?.failed(reason);
    },
    async adopt(db, subject) {
      const transaction = await reader.sessionRequest(preimageOf(subject.id));
      if (transaction === undefined) return false;
      await landed(db, subject, transaction);
      return true;
    },
    ended: (signRequestId) => signals.notify(topics.sign(signRequestId)),
  };

  function preimageOf(id: string): Uint8Array {
    return sessionIdentifierPreimage(holdSessionBytes(id), senderAddress);
  }

  async function landed(db: Queryable, subject: HeldSubject, transaction: LandedTransaction): Promise<void> {
    const preimage = preimageOf(subject.id);
    const session = requestedSessions(transaction.events, "FutureSignRequestEvent").find((one) =>
      equalBytes(one.preimage, preimage),
    );
    if (session === undefined || !isOf(session.data, subject)) {
      const message = `transaction ${transaction.digest} sent no half for ${subject.id}`;
      throw new MixedUpAnswerError("transaction", message);
    }
    await execute(
      db,
      sql`
WITH sent AS (
  UPDATE sign_request r SET hold_state = 'verifying', hold_tx_digest = ${transaction.digest},
    hold_object_id = ${session.data.partial_centralized_signed_message_id}, updated_at = ${laterThan(sql`r`)}
  WHERE r.id = ${subject.id} AND r.status = 'queued' AND r.hold_state = 'sending' RETURNING r.presign_id
)
${presignMoves.use(sql`sent`)}`,
    );
  }
}

export interface HoldOperationOptions {
  readonly signals: Signals;
  readonly reader: Pick<NetworkReader, "sessionRequest">;
  /** The address that sends the transactions. Sessions are bound to it. */
  readonly senderAddress: string;
  /** The maximum number of refunds of a project on one day (UTC), as for signatures. */
  readonly refundsPerDay: number;
  readonly observer?: SignObserver | undefined;
}

interface HeldSubject extends SignSubject {
  readonly holdSeconds: number;
}

const BATCH_COUNT = 8;

/**
 * Returns the number of epochs for which the Treasury keeps a half. An epoch of Sui takes about a day, and the first one
 * has begun. The Treasury's maximum is one day more than that of the contract.
 */
function epochsFor(holdSeconds: number): bigint {
  return BigInt(Math.ceil(holdSeconds / DAY_SECONDS) + 1);
}

const DAY_SECONDS = 86_400;

/** The chain accepts a session once, so whoever sends the request's half again cannot pay twice. */
function holdSessionBytes(signRequestId: string): Uint8Array {
  return new Uint8Array(createHash("sha256").update(`tss/hold/${signRequestId}`).digest());
}

type HeldData = ReturnType<typeof requestedSessions<"FutureSignRequestEvent">>[number]["data"];

/** Returns whether the session is about exactly the subject's message and half. */
function isOf(data: HeldData, subject: HeldSubject): boolean {
  return (
    data.dwallet_id === subject.dwalletId &&
    data.curve === subject.curve &&
    data.signature_algorithm === subject.signatureAlgorithm &&
    data.hash_scheme === subject.hashScheme &&
    equalBytes(Uint8Array.from(data.message), subject.message) &&
    equalBytes(Uint8Array.from(data.message_centralized_signature), subject.userSignMessage)
  );
}
