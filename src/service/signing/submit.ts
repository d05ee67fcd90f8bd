import sql, { type Sql } from "sql-template-tag";
import { auditInsert } from "../audit/audit-event.ts";
import { operationInsert } from "../chain/operation.ts";
import { postings } from "../ledger/postings.ts";
import { hasLeft, isLeft } from "../onboarding/custody/custody-state.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { time } from "../platform/store/columns.ts";
import { newId, type Queryable, readRows } from "../platform/store/database.ts";
import { activeUserOf, userFrozen } from "../users/ensure-user.ts";
import { withinReach } from "../users/reach.ts";
import { tripleOfRow } from "./algorithm-enums.ts";
import { requireAlgorithm, type SigningCaller } from "./reserve.ts";
import { SIGN_PRIORITY } from "./sign-operation.ts";
import { readSignRequest, type SignRequestRow } from "./sign-request.ts";
import type { CheckHalf } from "./verifier.ts";
import type { SignMessageClaim } from "./verify-work.ts";

/**
 * Charges the held price, stores the user's half and queues the transaction. The first half wins: a repeated call
 * returns the request in its current state, whatever half it carries. Throws SIGN_REQUEST_NOT_FOUND, WRONG_STATE if the
 * reservation has expired, DWALLET_LEFT if it ended because the dWallet is leaving or has left, USER_FROZEN,
 * ALGORITHM_NOT_ALLOWED, and the errors of {@link CheckHalf}.
 */
export async function submit(
  { database, signals, checkHalf }: SubmitDeps,
  caller: SigningCaller,
  { signRequestId, userSignMessage }: SubmitInput,
): Promise<SignRequestRow> {
  const { projectId } = caller;
  const row = await readOwn(database, signRequestId, caller);
  if (row.wasSubmitted) return row;
  if (row.status !== "prepared" || row.isExpired || row.isUserFrozen) throw ended(row);
  const claim = claimOf(row, userSignMessage);
  // Another caller of the project may have reserved it.
  requireAlgorithm(caller.allowance, claim.signatureAlgorithm);
  await checkHalf(projectId, claim);
  const [queued] = await readRows(database, capture(caller, signRequestId, userSignMessage), {
    updatedAt: time,
  });
  if (queued !== undefined) {
    signals.notify(topics.outbox(caller.network));
    signals.notify(topics.sign(signRequestId));
    return { ...row, status: "queued", wasSubmitted: true, updatedAt: queued.updatedAt };
  }
  const current = await readOwn(database, signRequestId, caller);
  if (!current.wasSubmitted) throw ended(current);
  return current;
}

export interface SubmitDeps {
  readonly database: Queryable;
  readonly signals: Pick<Signals, "notify">;
  readonly checkHalf: CheckHalf;
}

export interface SubmitInput {
  readonly signRequestId: string;
  readonly userSignMessage: Uint8Array;
}

/**
 * Moves prepared -> queued, together with the money, the outbox and the audit trail, in one statement. It locks the row of
 * the dWallet's user, who must not be frozen, so nothing of the user is queued after a freeze.
 */
function capture(caller: SigningCaller, signRequestId: string, userSignMessage: Uint8Array): Sql {
  const { projectId, origin } = caller;
  const operation = { kind: "sign", priority: SIGN_PRIORITY, traceParent: origin.traceParent } as const;
  return sql`
WITH signing_dwallet AS (
  SELECT d.id, d.project_id, d.user_reference FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id
  WHERE r.id = ${signRequestId} AND d.state <> 'Left' AND ${withinReach(caller, sql`d`)}
), user_now AS (${activeUserOf(sql`signing_dwallet`)}), reservation AS (
  SELECT id, project_id, network, price_micro_usd FROM sign_request
  WHERE id = ${signRequestId} AND project_id = ${projectId} AND status = 'prepared' AND expires_at > clock_timestamp()
    AND EXISTS (SELECT 1 FROM signing_dwallet WHERE user_reference IS NULL OR EXISTS (SELECT 1 FROM user_now))
  FOR UPDATE
), ${postings.capture(sql`reservation`)}, queued AS (
  UPDATE sign_request r SET status = 'queued', user_sign_message = ${userSignMessage}, updated_at = now()
  FROM reservation s JOIN posting_capture USING (id) WHERE r.id = s.id
  RETURNING r.id, r.project_id, r.network, r.updated_at
), asked AS (
  SELECT ${newId()}::uuid AS operation_id, network, id AS subject_id FROM queued
), operation AS (${operationInsert(operation, sql`asked`)}
), audited AS (${auditInsert("sign.submit", sql`queued`, origin)})
SELECT updated_at AS "updatedAt" FROM queued`;
}

async function readOwn(db: Queryable, id: string, caller: SigningCaller): Promise<SignRequestRow> {
  const row = await readSignRequest(db, { id, caller });
  if (row === undefined) throw signRequestNotFound(id);
  return row;
}

/** Returns the error for an id that the caller does not see. */
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

function ended(row: SignRequestRow): ServiceError {
  if (isLeft(row.dwalletState)) return hasLeft(row.dwalletId, row.dwalletState);
  if (row.status === "prepared" && !row.isExpired && row.isUserFrozen)
    return userFrozen(row.userReference ?? "");
  return new ServiceError("WRONG_STATE", "the reservation has expired; reserve again", {
    metadata: { status: row.status, expireTime: row.expiresAt.toISOString() },
  });
}
