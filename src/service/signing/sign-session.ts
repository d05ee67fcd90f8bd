import sql from "sql-template-tag";
import { parseSignSession } from "../../protocol/chain/chain-objects.ts";
import { MixedUpAnswerError } from "../../protocol/chain/read-errors.ts";
import { readOpenSessions, type SessionKind } from "../chain/session.ts";
import { announceEvents } from "../events/event.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import { topics } from "../platform/coordination/topics.ts";
import { batchStatements } from "../platform/store/batch-statements.ts";
import { boolean, type Columns, nullable, number, text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";
import { tripleOfRow } from "./algorithm-enums.ts";
import { signEventInsert } from "./sign-event.ts";
import { failSignRequest, type SignObserver, type SignTimes } from "./sign-operation.ts";
import { readSignRequest, type SignRequestRow } from "./sign-request.ts";
import type { Verifier } from "./verify/verifier.ts";
import type { NetworkSignatureClaim } from "./verify/verify-work.ts";

/**
 * Waits for signatures: submitted -> completed once verified, or failed with a refund if the network rejected it.
 *
 * A session of another request or dWallet changes nothing, and `settle` throws MixedUpAnswerError. It also throws for a
 * signature that does not verify: the network verifies a signature before it writes it to the chain, so the fullnode is
 * at fault and may answer correctly later. A request without a valid signature after `invalidSignatureMs` fails with
 * SIGNATURE_INVALID and a refund, so it does not stay open and charged forever.
 */
export function createSignSession(options: SignSessionOptions): SessionKind {
  const { network, refundsPerDay, verifier, signals, observer } = options;
  const { invalidSignatureMs = INVALID_SIGNATURE_MS } = options;
  return {
    name: "sign",
    requestedBy: "sign",
    open: (database, { after, limit }) =>
      readOpenSessions(
        database,
        sql`SELECT id::text AS "subjectId", sign_session_id AS "objectId" FROM sign_request
            WHERE network = ${network} AND status = 'submitted' AND id > ${after}::uuid
            ORDER BY sign_request.id LIMIT ${limit}`,
      ),
    async settle(database, { subjectId: id, objectId }, content) {
      const { id: sessionId, dwalletId, state } = parseSignSession(content);
      if (state.kind === "Requested") return false;
      const row = await readSignRequest(database, { id });
      if (row === undefined) throw new Error(`there is no sign request ${id}`);
      if (sessionId !== objectId || dwalletId !== row.dwalletId)
        throw new MixedUpAnswerError("session", `the sign session ${objectId} is another request's`);
      switch (state.kind) {
        case "NetworkRejected":
          if (
            await failSignRequest(database, id, {
              from: "submitted",
              reason: "NETWORK_REJECTED",
              message: "the network rejected the user's half of the signature",
              refundsPerDay,
            })
          )
            observer?.failed("NETWORK_REJECTED");
          break;
        case "Completed":
          await complete(database, row, state.output, { verifier, observer, invalidSignatureMs });
          break;
      }
      signals.notify(topics.sign(id));
      announceEvents(signals, row.projectId);
      return true;
    },
  };
}

export interface SignSessionOptions {
  readonly network: string;
  /** The maximum number of refunds of a project on one day (UTC) for requests that the network rejected. */
  readonly refundsPerDay: number;
  readonly verifier: Pick<Verifier, "checkSignature">;
  readonly signals: Signals;
  readonly observer?: SignObserver | undefined;
  /** How long a request waits for a valid signature after an invalid one. Default: 10 minutes. */
  readonly invalidSignatureMs?: number | undefined;
}

const INVALID_SIGNATURE_MS = 600_000;

async function complete(
  db: Queryable,
  row: SignRequestRow,
  output: Uint8Array,
  options: Pick<SignSessionOptions, "verifier" | "observer"> & { readonly invalidSignatureMs: number },
): Promise<void> {
  const { verifier, observer, invalidSignatureMs } = options;
  const signature = await verifier.checkSignature(claimOf(row, output));
  if (signature === undefined) {
    const [doubted] = await readRows(db, doubt(row.id, invalidSignatureMs), { isOver: boolean });
    if (doubted?.isOver !== true)
      throw new MixedUpAnswerError("signature", `the signature of request ${row.id} does not verify`);
    if (await failSignRequest(db, row.id, INVALID)) observer?.failed(INVALID.reason);
    return;
  }
  const times = await completeTogether(db, { id: row.id, signature });
  if (times !== undefined) observer?.completed(times);
}

const INVALID = {
  from: "submitted",
  reason: "SIGNATURE_INVALID",
  message: "the fullnode's signature does not verify under the dWallet's public key",
} as const;

/** Stores the time of the first invalid signature. Returns whether `afterMs` have passed since then. */
const doubt = (id: string, afterMs: number) => sql`
UPDATE sign_request SET invalid_signature_at = coalesce(invalid_signature_at, now())
WHERE id = ${id} AND status = 'submitted'
RETURNING invalid_signature_at <= now() - ${afterMs}::float8 * interval '1 millisecond' AS "isOver"`;

const SIGN_TIMES: Columns<SignTimes> = {
  preparedSeconds: nullable(number),
  queuedSeconds: nullable(number),
  submittedSeconds: nullable(number),
};

/**
 * Moves submitted -> completed. Returns how long the request was in each state, or undefined if it was in another state.
 * Requests that are completed together share a statement.
 */
const completeTogether = batchStatements<CompletedRequest, SignTimes | undefined>({
  subjectOf: () => "",
  async run(db, requests) {
    const rows = await readRows<SignTimes & { id: string }>(db, completion(requests), {
      id: text,
      ...SIGN_TIMES,
    });
    const byId = new Map(rows.map(({ id, ...times }) => [id, times]));
    return requests.map(({ id }) => {
      const times = byId.get(id);
      // A second call for a request did not complete it.
      byId.delete(id);
      return times;
    });
  },
});

interface CompletedRequest {
  readonly id: string;
  readonly signature: Uint8Array;
}

/** Locks the requests in one order, because replicas complete the same ones. */
const completion = (requests: readonly CompletedRequest[]) => sql`
WITH locked AS MATERIALIZED (
  SELECT id FROM sign_request WHERE id = ANY(${requests.map(({ id }) => id)}::uuid[]) AND status = 'submitted'
  ORDER BY id FOR UPDATE
), completed AS (
  UPDATE sign_request r SET status = 'completed', signature = news.signature, updated_at = now()
  FROM unnest(${requests.map(({ id }) => id)}::uuid[], ${requests.map(({ signature }) => signature)}::bytea[])
    AS news (id, signature) JOIN locked USING (id)
  WHERE r.id = news.id RETURNING r.id, r.project_id, r.dwallet_id, r.failure_reason, r.created_at, r.updated_at, r.hold_state
), noted AS (${signEventInsert("sign.completed", sql`completed`)})
SELECT r.id, extract(epoch FROM o.created_at - r.created_at)::float8 AS "preparedSeconds",
       extract(epoch FROM t.resolved_at - o.created_at)::float8 AS "queuedSeconds",
       extract(epoch FROM r.updated_at - t.resolved_at)::float8 AS "submittedSeconds"
FROM completed r LEFT JOIN chain_operation o ON o.kind = CASE WHEN r.hold_state IS NULL THEN 'sign' ELSE 'partial_sign' END
  AND o.subject_id = r.id
LEFT JOIN chain_transaction t ON t.digest = o.tx_digest`;

function claimOf(row: SignRequestRow, signature: Uint8Array): NetworkSignatureClaim {
  const { curve, signatureAlgorithm, hash } = tripleOfRow(row);
  const { dwalletPublicKey: publicKey, dwalletPublicOutput: dwalletOutput, message } = row;
  return { curve, signatureAlgorithm, hash, publicKey, dwalletOutput, message, signature };
}
