import sql from "sql-template-tag";
import { equalBytes } from "../../../protocol/bytes.ts";
import { parsePartialSignature } from "../../../protocol/chain/partial-signature.ts";
import { MixedUpAnswerError } from "../../../protocol/chain/read-errors.ts";
import { readOpenSessions, type SessionKind } from "../../chain/session.ts";
import { announceEvents } from "../../events/event.ts";
import type { Signals } from "../../platform/coordination/signals.ts";
import { topics } from "../../platform/coordination/topics.ts";
import { execute, type Queryable } from "../../platform/store/database.ts";
import { signEventInsert } from "../sign-event.ts";
import { failSignRequest, type SignObserver } from "../sign-operation.ts";
import { readSignRequest } from "../sign-request.ts";
import { laterThan } from "./end-held.ts";

/**
 * Waits for the network to verify halves that are held: verifying -> held, or failed with a refund within the project's
 * daily budget. A half of another request, dWallet, presign or message changes nothing, and `settle` throws
 * MixedUpAnswerError.
 */
export function createHoldSession({
  network,
  refundsPerDay,
  signals,
  observer,
}: HoldSessionOptions): SessionKind {
  return {
    name: "future_sign",
    requestedBy: "future_sign",
    open: (database, { after, limit }) =>
      readOpenSessions(
        database,
        sql`SELECT id::text AS "subjectId", hold_object_id AS "objectId" FROM sign_request
            WHERE network = ${network} AND status = 'queued' AND hold_state = 'verifying' AND id > ${after}::uuid
            ORDER BY sign_request.id LIMIT ${limit}`,
      ),
    async settle(database, { subjectId: id, objectId }, content) {
      const half = parsePartialSignature(content);
      if (half.stateKind === "AwaitingNetworkVerification") return false;
      const row = await readSignRequest(database, { id });
      if (row === undefined) throw new Error(`there is no sign request ${id}`);
      const isSame =
        half.id === objectId &&
        half.dwalletId === row.dwalletId &&
        half.presignId === row.presignId &&
        equalBytes(half.message, row.message);
      if (!isSame) throw new MixedUpAnswerError("session", `the half ${objectId} is another request's`);
      if (half.stateKind === "NetworkVerificationCompleted") await markHeld(database, id);
      else if (await failSignRequest(database, id, { ...REJECTED, refundsPerDay }))
        observer?.failed(REJECTED.reason);
      signals.notify(topics.sign(id));
      announceEvents(signals, row.projectId);
      return true;
    },
  };
}

export interface HoldSessionOptions {
  readonly network: string;
  /** The maximum number of refunds of a project on one day (UTC) for halves that the network rejected. */
  readonly refundsPerDay: number;
  readonly signals: Signals;
  readonly observer?: SignObserver | undefined;
}

const REJECTED = {
  from: "queued",
  holdState: "verifying",
  reason: "NETWORK_REJECTED",
  message: "the network rejected the user's half of the signature",
} as const;

async function markHeld(db: Queryable, id: string): Promise<void> {
  await execute(
    db,
    sql`
WITH held AS (
  UPDATE sign_request r SET hold_state = 'held', updated_at = ${laterThan(sql`r`)}
  WHERE r.id = ${id} AND r.status = 'queued' AND r.hold_state = 'verifying'
  RETURNING r.id, r.project_id, r.dwallet_id, r.failure_reason
)
${signEventInsert("sign.held", sql`held`)}`,
  );
}
