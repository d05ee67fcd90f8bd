import sql, { type Sql } from "sql-template-tag";
import { auditInsert } from "../../audit/audit-event.ts";
import { operationInsert } from "../../chain/operation.ts";
import { announceEvents } from "../../events/event.ts";
import { hasLeft, isLeft } from "../../onboarding/custody/custody-state.ts";
import type { Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { ServiceError } from "../../platform/errors/service-error.ts";
import { execute, newId, type Queryable, readRows } from "../../platform/store/database.ts";
import { activeUsersOf, userFrozen } from "../../users/ensure-user.ts";
import { activeHoldersOf, isWithinReach } from "../../users/reach.ts";
import { tripleOfRow } from "../algorithm-enums.ts";
import { requireAlgorithm, type SigningCaller } from "../reserve.ts";
import { SIGN_PRIORITY } from "../sign-operation.ts";
import { readSignRequest, type SignRequestRow } from "../sign-request.ts";
import { signRequestNotFound } from "../submit.ts";
import { ENDED_HOLD, endHeld, isHeld, laterThan } from "./end-held.ts";

/**
 * Releases a held half, and queues the transaction that requests its signature. Of all releases, cancellations and
 * expiries of a half, one counts. A repeated call returns the request in its current state. Throws
 * SIGN_REQUEST_NOT_FOUND, OUT_OF_REACH for a holder and the half of somebody else, ALGORITHM_NOT_ALLOWED, DWALLET_LEFT,
 * USER_FROZEN, and WRONG_STATE if the half is not held: not verified yet, ended or expired, or if the key, session or
 * holder that gave it is revoked or removed.
 */
export async function releaseSign(
  { database, signals }: HoldDeps,
  caller: SigningCaller,
  signRequestId: string,
): Promise<SignRequestRow> {
  const row = await readOwn(database, signRequestId, caller);
  if (row.holdState === "released") return row;
  // Another caller of the project has reserved it.
  requireAlgorithm(caller.allowance, tripleOfRow(row).signatureAlgorithm);
  const count = await execute(database, release(caller, row.id));
  const current = await readOwn(database, signRequestId, caller);
  if (count > 0) {
    signals.notify(topics.outbox(caller.network));
    signals.notify(topics.sign(row.id));
  }
  if (current.holdState === "released") return current;
  throw notReleased(current);
}

/**
 * Ends a held half, and refunds its price without the price of the hold. A repeated call returns the request. Throws
 * SIGN_REQUEST_NOT_FOUND, OUT_OF_REACH, SCOPE_MISSING, and WRONG_STATE if the half is not held: not verified yet,
 * released or ended.
 */
export async function cancelSign(
  { database, signals }: HoldDeps,
  caller: SigningCaller & { readonly scopes: readonly string[] },
  signRequestId: string,
): Promise<SignRequestRow> {
  if (!CANCELLING_SCOPES.some((scope) => caller.scopes.includes(scope)))
    throw new ServiceError("SCOPE_MISSING", "the key lacks the scopes sign, propose and release", {
      metadata: { scope: "sign" },
    });
  const row = await readOwn(database, signRequestId, caller);
  if (row.failureReason === CANCELLED.reason) return row;
  const chosen = sql`SELECT r.*, ${CANCELLED.reason}::text AS end_reason, ${CANCELLED.message}::text AS end_message
    FROM sign_request r
    WHERE r.id = ${row.id} AND r.project_id = ${caller.projectId}::uuid AND ${isHeld} FOR UPDATE`;
  const end = endHeld(chosen, { action: "sign.cancel", origin: caller.origin });
  const ended = await readRows(database, end, ENDED_HOLD);
  if (ended.length > 0) {
    signals.notify(topics.sign(row.id));
    announceEvents(signals, caller.projectId);
  }
  const current = await readOwn(database, signRequestId, caller);
  if (current.failureReason === CANCELLED.reason) return current;
  throw wrongState(current);
}

export interface HoldDeps {
  readonly database: Queryable;
  readonly signals: Signals;
}

const CANCELLING_SCOPES = ["sign", "propose", "release"] as const;

const CANCELLED = {
  reason: "SIGN_CANCELLED",
  message: "the held half was cancelled",
} as const;

async function readOwn(db: Queryable, id: string, caller: SigningCaller): Promise<SignRequestRow> {
  const row = await readSignRequest(db, { id, caller });
  if (row === undefined) throw signRequestNotFound(id);
  if (isOfAnother(row, caller))
    throw new ServiceError("OUT_OF_REACH", "the half was given by the dWallet's owner or by another holder");
  return row;
}

/** A holder can read a request of the owner whose id it has, but its half is neither the holder's to release nor to end. */
function isOfAnother(row: SignRequestRow, caller: SigningCaller): boolean {
  const users = caller.allowance?.userReferences ?? [];
  return (
    row.wasSubmitted &&
    !isWithinReach(caller, { ...row, objectId: row.dwalletId }) &&
    !row.heldForUsers.some((user) => users.includes(user))
  );
}

/**
 * Moves held -> released, together with the outbox and the audit trail, in one statement. It locks the rows of the
 * dWallet's user, of the holder that gave the half, and of the key or session that submitted it. A freeze, a removal or a
 * revocation that comes later waits, and the statement sees one that came earlier.
 */
function release({ projectId, origin }: SigningCaller, id: string): Sql {
  const idOf = (kind: string): Sql =>
    sql`CASE WHEN r.held_by ~ ${`^${kind}:[0-9a-f-]{36}$`} THEN split_part(r.held_by, ':', 2)::uuid END`;
  const operation = {
    kind: "partial_sign",
    priority: SIGN_PRIORITY,
    traceParent: origin.traceParent,
  } as const;
  return sql`
WITH holding AS MATERIALIZED (
  SELECT r.id AS request_id, r.project_id, d.id AS dwallet_id, d.user_reference, r.held_for_users AS reach_users,
    cardinality(r.held_for_users) > 0 AS is_of_holder, ${idOf("key")} AS key_id, ${idOf("session")} AS session_id
  FROM sign_request r JOIN dwallet d ON d.id = r.dwallet_id
  WHERE r.id = ${id} AND r.project_id = ${projectId}::uuid AND ${isHeld} AND d.state = 'Active'
), user_now AS (${activeUsersOf(sql`holding`)}), holder_now AS (${activeHoldersOf(sql`holding`)}), key_now AS (
  SELECT k.id FROM holding h JOIN api_key k ON k.id = h.key_id WHERE k.revoked_at IS NULL FOR SHARE OF k
), session_now AS (
  SELECT s.id FROM holding h JOIN session s ON s.id = h.session_id
  WHERE s.revoked_at IS NULL
    AND NOT EXISTS (SELECT FROM api_key m WHERE m.id = s.api_key_id AND m.revoked_at IS NOT NULL)
    AND NOT EXISTS (SELECT FROM removed_identity_provider p WHERE p.id = s.identity_provider_id)
  FOR SHARE OF s
), usable AS (
  SELECT request_id FROM holding h
  WHERE (user_reference IS NULL OR user_reference IN (SELECT reference FROM user_now))
    AND (NOT is_of_holder OR request_id IN (SELECT request_id FROM holder_now))
    AND (h.key_id IN (SELECT id FROM key_now) OR h.session_id IN (SELECT id FROM session_now))
), chosen AS (
  SELECT r.id FROM sign_request r JOIN usable u ON u.request_id = r.id
  WHERE ${isHeld} AND r.hold_expires_at > clock_timestamp() FOR UPDATE OF r
), released AS (
  UPDATE sign_request r SET hold_state = 'released', updated_at = ${laterThan(sql`r`)}
  FROM chosen c WHERE r.id = c.id RETURNING r.id, r.project_id, r.network
), asked AS (
  SELECT ${newId()}::uuid AS operation_id, network, id AS subject_id FROM released
), operation AS (${operationInsert(operation, sql`asked`)}
), audited AS (${auditInsert("sign.release", sql`released`, origin)})
SELECT id FROM released`;
}

function notReleased(row: SignRequestRow): ServiceError {
  if (row.holdState !== "held" || row.status !== "queued") return wrongState(row);
  if (isLeft(row.dwalletState)) return hasLeft(row.dwalletId, row.dwalletState);
  if (row.isUserFrozen) return userFrozen(row.userReference ?? "");
  const message =
    "the hold has expired, the key or session that gave the half was revoked, or its holder was removed";
  return new ServiceError("WRONG_STATE", message, { metadata: { status: row.status } });
}

function wrongState({ status, holdState }: SignRequestRow): ServiceError {
  const message =
    holdState === null
      ? "the request has no held half"
      : status === "queued" && (holdState === "sending" || holdState === "verifying")
        ? "the network has not verified the half yet; try again"
        : `the half is ${holdState === "released" ? "released" : "ended"}`;
  return new ServiceError("WRONG_STATE", message, { metadata: { status } });
}
