import sql, { empty, type Sql } from "sql-template-tag";
import { auditInsertWithMoney, OWN_ORIGIN, originColumns } from "../audit/audit-event.ts";
import { operationInsert } from "../chain/operation.ts";
import { postings } from "../ledger/postings.ts";
import { hasLeft, isLeft } from "../onboarding/custody/custody-state.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { batchStatements } from "../platform/store/batch-statements.ts";
import { joinSlices } from "../platform/store/byte-slices.ts";
import { text, time } from "../platform/store/columns.ts";
import { type Database, newId, type Queryable, readRows } from "../platform/store/database.ts";
import { activeUsersOf, userFrozen } from "../users/ensure-user.ts";
import { activeHoldersOf, isOfHolder, reachColumns, withinUseOf } from "../users/reach.ts";
import { tripleOfRow } from "./algorithm-enums.ts";
import { findHoldRefusal, lockHolds } from "./holds/submit-hold.ts";
import { requireAlgorithm, requireHold, type SigningCaller } from "./reserve.ts";
import { SIGN_PRIORITY } from "./sign-operation.ts";
import { readSignRequest, type SignRequestRow } from "./sign-request.ts";
import type { CheckHalf } from "./verify/verifier.ts";
import type { SignMessageClaim } from "./verify/verify-work.ts";

/**
 * Charges the held price, stores the user's half and queues the transaction. The first half wins: a repeated call
 * returns the request in its current state, whatever half it carries. Throws SIGN_REQUEST_NOT_FOUND, WRONG_STATE if the
 * reservation has expired, TOO_MANY_RESERVATIONS if the request has a hold and the project or the dWallet has too many,
 * DWALLET_LEFT if it ended because the dWallet is leaving or has left, USER_FROZEN,
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
  requireHold(caller, row.holdSeconds);
  await checkHalf({ projectId, userReference: row.userReference }, claim);
  const submission = { caller, id: row.id, userSignMessage };
  const isHold = row.holdSeconds !== null;
  const updatedAt = await (isHold ? captureHold : captureTogether)(database, submission);
  if (updatedAt !== undefined) {
    signals.notify(topics.outbox(caller.network));
    signals.notify(topics.sign(signRequestId));
    if (!isHold) return { ...row, status: "queued", wasSubmitted: true, updatedAt };
  }
  const current = await readOwn(database, signRequestId, caller);
  if (!current.wasSubmitted) throw ended(current);
  return current;
}

export interface SubmitDeps {
  /** Without `transaction`, the call is within one already. */
  readonly database: SubmitDatabase;
  readonly signals: Signals;
  readonly checkHalf: CheckHalf;
}

type SubmitDatabase = Queryable & Partial<Pick<Database, "transaction">>;

export interface SubmitInput {
  readonly signRequestId: string;
  readonly userSignMessage: Uint8Array;
}

/** A submission of a half that was checked. */
interface Submission {
  readonly caller: SigningCaller;
  readonly id: string;
  readonly userSignMessage: Uint8Array;
}

/** The maximum number of halves in one statement, which may have some megabytes then. */
const BATCH_MAX_COUNT = 64;

/**
 * Queues a request and returns the time; undefined if this submission does not queue it. Submissions of a project that
 * arrive together share a statement. The first one for a request counts.
 */
const captureTogether = batchStatements<Submission, Date | undefined>({
  lineOf: ({ caller }) => caller.projectId,
  subjectOf: ({ caller }) => caller.projectId,
  batchMaxCount: BATCH_MAX_COUNT,
  async run(db, submissions) {
    const firsts = new Map(submissions.toReversed().map((submission) => [submission.id, submission]));
    const rows = await readRows(db, capture([...firsts.values()]), { id: text, updatedAt: time });
    const queued = new Map(rows.map(({ id, updatedAt }) => [id, updatedAt]));
    return submissions.map((submission) =>
      firsts.get(submission.id) === submission ? queued.get(submission.id) : undefined,
    );
  },
});

/** The maximum number of held halves in one transaction, each with its own statements. */
const HOLD_BATCH_MAX_COUNT = 16;

/**
 * Queues a half that is held, and returns the time; undefined if this submission does not queue it. Submissions of a
 * project that arrive together share a transaction, which counts the held halves of the project. So those that wait for
 * another replica's transaction have one connection of this process, however many they are.
 */
async function captureHold(database: SubmitDatabase, submission: Submission): Promise<Date | undefined> {
  const result = await captureHoldsTogether(database, submission);
  if (result instanceof ServiceError) throw result;
  return result;
}

const captureHoldsTogether = batchStatements<Submission, Date | undefined | ServiceError>({
  lineOf: ({ caller }) => caller.projectId,
  subjectOf: ({ caller }) => caller.projectId,
  batchMaxCount: HOLD_BATCH_MAX_COUNT,
  async run(database: SubmitDatabase, submissions) {
    const [{ caller }] = submissions as readonly [Submission];
    const run = async (db: Queryable) => {
      await lockHolds(db, caller.projectId);
      const results: (Date | undefined | ServiceError)[] = [];
      for (const submission of submissions) results.push(await captureHeld(db, submission));
      return results;
    };
    return await (database.transaction?.(run) ?? run(database));
  },
});

/** Does the same as {@link captureHold} in a transaction that has the project's lock, and returns a refusal. */
async function captureHeld(db: Queryable, submission: Submission): Promise<Date | undefined | ServiceError> {
  const { id: signRequestId, caller } = submission;
  const refusal = await findHoldRefusal(db, { projectId: caller.projectId, signRequestId });
  if (refusal !== undefined) return refusal;
  const [queued] = await readRows(db, capture([submission], "future_sign"), { id: text, updatedAt: time });
  return queued?.updatedAt;
}

/**
 * Moves prepared -> queued, together with the money, the outbox and the audit trail, in one statement. It locks the rows
 * of the dWallets' users, who must not be frozen, so nothing of such a user is queued after a freeze. For the users of
 * other callers, it locks what makes them holders, so nothing of a holder is queued after its removal. It then locks the
 * requests in one order, because a repeated submission may reach another replica.
 *
 * @param submissions submissions of different requests, by callers of one project
 * @param kind `future_sign` for requests with a hold
 */
function capture(submissions: readonly Submission[], kind: "sign" | "future_sign" = "sign"): Sql {
  const [{ caller }] = submissions as readonly [Submission];
  // PostgreSQL expects few ids in an array, and a hundred rows in the JSON, for which it may scan the whole table.
  const ids = submissions.map(({ id }) => id);
  const halves = joinSlices(submissions.map(({ userSignMessage }) => userSignMessage));
  const asked = submissions.map(({ id, caller: { allowance, origin } }, index) => ({
    id,
    operation_id: newId(),
    half_at: halves.slices[index]?.at,
    half_length: halves.slices[index]?.length,
    trace_parent: origin.traceParent,
    ...originColumns(origin),
    ...reachColumns({ allowance }),
  }));
  const hold =
    kind === "sign"
      ? empty
      : sql`, hold_state = 'sending', hold_expires_at = now() + r.hold_seconds * interval '1 second', held_by = a.actor,
    held_for_users = CASE WHEN w.is_of_holder THEN a.reach_users ELSE ARRAY[]::text[] END`;
  const operation = { kind, priority: SIGN_PRIORITY, traceParent: sql`trace_parent` } as const;
  return sql`
WITH asked AS MATERIALIZED (
  SELECT * FROM json_to_recordset(${JSON.stringify(asked)}::json) AS asked (
    id uuid, operation_id uuid, half_at integer, half_length integer, trace_parent text, actor text, request_id text,
    address text, reach_users text[], reach_dwallets text[])
), signing_dwallet AS MATERIALIZED (
  SELECT r.id AS request_id, d.id AS dwallet_id, d.project_id, d.user_reference, asked.reach_users,
    ${isOfHolder(sql`asked`, sql`d`)} AS is_of_holder
  FROM asked JOIN sign_request r USING (id) JOIN dwallet d ON d.id = r.dwallet_id
  WHERE r.id = ANY(${ids}::uuid[]) AND d.state <> 'Left' AND ${withinUseOf(sql`asked`, caller.projectId, sql`d`)}
), user_now AS (${activeUsersOf(sql`signing_dwallet`)}), holder_now AS (
  ${activeHoldersOf(sql`signing_dwallet`)}
), usable AS (
  SELECT request_id FROM signing_dwallet
  WHERE (user_reference IS NULL OR user_reference IN (SELECT reference FROM user_now))
    AND (NOT is_of_holder OR request_id IN (SELECT request_id FROM holder_now))
), reservation AS (
  SELECT id, project_id, network, price_micro_usd FROM sign_request
  WHERE id = ANY(ARRAY(SELECT request_id FROM usable)) AND project_id = ${caller.projectId} AND status = 'prepared'
    AND expires_at > clock_timestamp() AND hold_seconds IS ${kind === "sign" ? empty : sql`NOT `}NULL
  ORDER BY id FOR UPDATE
), ${postings.capture(sql`reservation`)}, queued AS (
  UPDATE sign_request r SET status = 'queued', updated_at = now(),
    user_sign_message = substring(${halves.bytes}::bytea FROM a.half_at FOR a.half_length)${hold}
  FROM reservation s JOIN posting_capture USING (id) JOIN asked a USING (id)
    JOIN signing_dwallet w ON w.request_id = s.id
  WHERE r.id = s.id AND r.id = ANY(${ids}::uuid[])
  RETURNING r.id, r.project_id, r.network, r.updated_at
), made AS (
  SELECT * FROM queued JOIN asked USING (id) JOIN capture_entry USING (id)
), asked_operation AS (
  SELECT operation_id, network, id AS subject_id, trace_parent FROM made
), operation AS (${operationInsert(operation, sql`asked_operation`)}
), audited AS (${auditInsertWithMoney("sign.submit", sql`made`, OWN_ORIGIN)})
SELECT id, updated_at AS "updatedAt" FROM queued`;
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
