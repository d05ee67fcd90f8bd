import { postings } from "../billing/postings.ts";
import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { SignMessageClaim } from "../protocol/check-sign-message.ts";
import { auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { tripleOfRow } from "./algorithm-enums.ts";
import type { CheckHalf } from "./check-half.ts";
import type { SigningCaller } from "./reserve.ts";
import { SIGN_PRIORITY } from "./sign-operation.ts";
import { readSignRequest, type SignRequestRow } from "./sign-request.ts";

/** What a submit needs. */
export interface SubmitDeps {
  readonly database: Sql;
  readonly signals: Pick<Signals, "notify">;
  readonly checkHalf: CheckHalf;
}

/** The user's half. */
export interface SubmitInput {
  readonly signRequestId: string;
  readonly userSignMessage: Uint8Array;
}

/**
 * Charges the held price, stores the user's half and queues the transaction. The first half wins: a repeat returns
 * the request as it stands, whatever it carries. Throws SIGN_REQUEST_NOT_FOUND, WRONG_STATE when the reservation has
 * expired, and what {@link CheckHalf} throws.
 */
export async function submit(
  { database, signals, checkHalf }: SubmitDeps,
  caller: SigningCaller,
  { signRequestId, userSignMessage }: SubmitInput,
): Promise<SignRequestRow> {
  const { projectId, origin } = caller;
  const row = await readOwn(database, signRequestId, projectId);
  if (row.wasSubmitted) return row;
  if (row.status !== "prepared" || row.isExpired) throw expired(row);
  await checkHalf(projectId, claimOf(row, userSignMessage));
  const [queued] = await database.query<{ updatedAt: Date }>(SUBMIT, [
    signRequestId,
    projectId,
    userSignMessage,
    newId(),
    SIGN_PRIORITY,
    ...auditParameters(origin),
    origin.traceParent ?? null,
  ]);
  if (queued !== undefined) {
    signals.notify(topics.outbox(caller.network));
    signals.notify(topics.sign(signRequestId));
    return { ...row, status: "queued", wasSubmitted: true, updatedAt: queued.updatedAt };
  }
  const current = await readOwn(database, signRequestId, projectId);
  if (!current.wasSubmitted) throw expired(current);
  return current;
}

/** Moves prepared -> queued, with the money, the outbox and the audit trail in the same statement. */
const SUBMIT = `
WITH reservation AS (
  SELECT id, project_id, network, price_micro_usd FROM sign_request
  WHERE id = $1 AND project_id = $2 AND status = 'prepared' AND expires_at > clock_timestamp() FOR UPDATE
), ${postings.capture("reservation")}, queued AS (
  UPDATE sign_request r SET status = 'queued', user_sign_message = $3, updated_at = now()
  FROM reservation s JOIN posting_capture USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.network, r.updated_at
), operation AS (
  INSERT INTO chain_operation (id, network, kind, subject_id, priority, trace_parent)
  SELECT $4, network, 'sign', id, $5, $9 FROM queued
), audited AS (${auditInsert("sign.submit", "queued", 6)})
SELECT updated_at AS "updatedAt" FROM queued`;

async function readOwn(sql: Sql, id: string, projectId: string): Promise<SignRequestRow> {
  const row = await readSignRequest(sql, { id, projectId });
  if (row === undefined) throw signRequestNotFound(id);
  return row;
}

/** The error for an id that the project has not. */
export function signRequestNotFound(signRequestId: string): ServiceError {
  return new ServiceError("SIGN_REQUEST_NOT_FOUND", "the project has no sign request with this id", {
    metadata: { signRequestId },
  });
}

function claimOf(row: SignRequestRow, userSignMessage: Uint8Array): SignMessageClaim {
  const { curve, signatureAlgorithm } = tripleOfRow(row);
  const { dwalletPublicOutput: dwalletOutput, presign, message } = row;
  return { curve, signatureAlgorithm, dwalletOutput, presign, message, userSignMessage };
}

function expired(row: SignRequestRow): ServiceError {
  return new ServiceError("WRONG_STATE", "the reservation has expired; reserve again", {
    metadata: { status: row.status, expireTime: row.expiresAt.toISOString() },
  });
}
