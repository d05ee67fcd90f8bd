import type { OpenSession, SessionKind } from "../chain/session.ts";
import type { Signals } from "../coordination/signals.ts";
import { topics } from "../coordination/topics.ts";
import { MalformedBytesError } from "../protocol/bytes.ts";
import { parseSignSession } from "../protocol/chain-objects.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { signatureFromChain } from "../protocol/signature-forms.ts";
import { verifySignature } from "../protocol/verify-signature.ts";
import type { Sql } from "../store/database.ts";
import { tripleOfRow } from "./algorithm-enums.ts";
import { failSignRequest } from "./fail-sign-request.ts";
import type { SignObserver, SignTimes } from "./sign-observer.ts";
import { readSignRequest, type SignRequestRow } from "./sign-request.ts";

/** What the kind needs. */
export interface SignSessionOptions {
  readonly network: string;
  /** How many requests of one project that the network rejected are refunded on one day (UTC). */
  readonly refundsPerDay: number;
  readonly signals: Pick<Signals, "notify">;
  readonly log: { error(fields: object, message: string): void };
  readonly observer?: SignObserver | undefined;
}

/** Waits for signatures: submitted -> completed once verified, or failed and refunded. */
export function createSignSession(options: SignSessionOptions): SessionKind {
  const { network, refundsPerDay, signals, log, observer } = options;
  return {
    name: "sign",
    requestedBy: "sign",
    open: (database, { after, limit }) =>
      database.query<OpenSession>(
        `SELECT id AS "subjectId", sign_session_id AS "objectId" FROM sign_request
         WHERE network = $1 AND status = 'submitted' AND id > $2::uuid ORDER BY sign_request.id LIMIT $3`,
        [network, after, limit],
      ),
    async settle(database, { subjectId: id }, content) {
      const { state } = parseSignSession(content);
      switch (state.kind) {
        case "Requested":
          return false;
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
          if (!(await complete(database, id, state.output, observer))) {
            log.error({ signRequestId: id }, "the network's signature does not verify");
          }
          break;
      }
      signals.notify(topics.sign(id));
      return true;
    },
  };
}

/** False if the signature was not what it should be. */
async function complete(
  sql: Sql,
  id: string,
  output: Uint8Array,
  observer: SignObserver | undefined,
): Promise<boolean> {
  const row = await readSignRequest(sql, { id });
  if (row === undefined) throw new Error(`there is no sign request ${id}`);
  const signature = verifiedSignature(row, output);
  if (signature === undefined) {
    const failure = {
      from: "submitted",
      reason: "SIGNATURE_INVALID",
      message: "the network's signature does not verify under the dWallet's public key",
    } as const;
    if (await failSignRequest(sql, id, failure)) observer?.failed("SIGNATURE_INVALID");
    return false;
  }
  const [times] = await sql.query<SignTimes>(COMPLETE, [id, signature]);
  if (times !== undefined) observer?.completed(times);
  return true;
}

/** Moves submitted -> completed, and says how long the request was in each state. */
const COMPLETE = `
WITH completed AS (
  UPDATE sign_request SET status = 'completed', signature = $2, updated_at = now()
  WHERE id = $1 AND status = 'submitted' RETURNING id, created_at, updated_at
)
SELECT extract(epoch FROM o.created_at - r.created_at)::float8 AS "preparedSeconds",
       extract(epoch FROM t.resolved_at - o.created_at)::float8 AS "queuedSeconds",
       extract(epoch FROM r.updated_at - t.resolved_at)::float8 AS "submittedSeconds"
FROM completed r LEFT JOIN chain_operation o ON o.kind = 'sign' AND o.subject_id = r.id
LEFT JOIN chain_transaction t ON t.digest = o.tx_digest`;

/** The signature in the form of the contract; undefined if it does not verify. */
function verifiedSignature(row: SignRequestRow, output: Uint8Array): Uint8Array | undefined {
  const { curve, signatureAlgorithm, hash } = tripleOfRow(row);
  const publicKey = row.dwalletPublicKey ?? publicKeyFromDWalletOutput(curve, row.dwalletPublicOutput);
  let signature: Uint8Array;
  try {
    signature = signatureFromChain(signatureAlgorithm, output);
  } catch (error) {
    if (error instanceof MalformedBytesError) return undefined;
    throw error;
  }
  const claim = { signatureAlgorithm, hash, publicKey, message: row.message, signature };
  return verifySignature(claim) ? signature : undefined;
}
