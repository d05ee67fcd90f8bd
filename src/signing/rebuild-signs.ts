import { postings } from "../billing/postings.ts";
import { requestedSessions } from "../chain/events.ts";
import type { PastTransaction } from "../chain/history.ts";
import type { Rebuilder, Unrecoverable } from "../chain/replay.ts";
import { paidSigns } from "../chain/treasury-events.ts";
import { messageSignPrice, type PriceTable } from "../protocol/price-table.ts";
import { auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";
import { newId } from "../store/ids.ts";
import { tripleOfRow } from "./algorithm-enums.ts";

type SignData = ReturnType<typeof requestedSessions<"SignRequestEvent">>[number]["data"];

/** What rebuilding sign requests needs. */
export interface SignRebuilderOptions {
  readonly network: string;
  /** What is charged for a request whose own price is lost. */
  readonly prices: PriceTable;
}

/**
 * Puts back the sign requests that lost transactions submitted, under the ids that they had, and charges each once: a
 * reservation that is known has its held price captured, any other is charged today's price, or nothing where the
 * project has not that much. A request of a dWallet that is not known cannot be put back.
 */
export function createSignRebuilder({ network, prices }: SignRebuilderOptions): Rebuilder {
  return {
    kind: "sign",
    async rebuild(sql, { events }, sent) {
      const references = paidSigns(events);
      const subjectIds: string[] = [];
      const unrecoverable: Unrecoverable[] = [];
      for (const { data } of requestedSessions(events, "SignRequestEvent")) {
        const id = references.get(data.sign_id);
        if (id !== undefined && (await restore(sql, id, data, sent))) subjectIds.push(id);
        else unrecoverable.push({ what: "sign request", id: id ?? data.sign_id, reason: WHOSE });
      }
      return { subjectIds, unrecoverable };
    },
  };

  /** Makes sure of a charged row; false when the dWallet is not known. */
  async function restore(sql: Sql, id: string, data: SignData, sent: PastTransaction): Promise<boolean> {
    const userSignMessage = Uint8Array.from(data.message_centralized_signature);
    const [known] = await sql.query<{ status: string }>("SELECT status FROM sign_request WHERE id = $1", [
      id,
    ]);
    if (known?.status === "prepared") await sql.query(CAPTURE, [id, userSignMessage, ...AUDIT]);
    if (known !== undefined) {
      // The half is compared with the chain's, so what retention emptied must be there again.
      await sql.query(
        "UPDATE sign_request SET user_sign_message = $2 WHERE id = $1 AND user_sign_message = ''",
        [id, userSignMessage],
      );
      return true;
    }
    const [dwallet] = await sql.query<{ id: string; projectId: string }>(
      `SELECT id, project_id AS "projectId" FROM dwallet WHERE network = $1 AND object_id = $2`,
      [network, data.dwallet_id],
    );
    if (dwallet === undefined) return false;
    const presignId = await holdPresign(sql, data);
    await sql.query(INSERT, [
      id,
      dwallet.projectId,
      messageSignPrice(prices, tripleOfRow(numbersOf(data)).signatureAlgorithm, data.message.length),
      dwallet.id,
      presignId,
      network,
      data.curve,
      data.signature_algorithm,
      data.hash_scheme,
      Uint8Array.from(data.message),
      userSignMessage,
      sent.time ?? null,
      ...AUDIT,
    ]);
    return true;
  }

  /** The row of the presign, in the hands of nobody else. */
  async function holdPresign(sql: Sql, data: SignData): Promise<string> {
    const [row] = await sql.query<{ id: string }>(
      `INSERT INTO presign (id, network, curve, signature_algorithm, network_encryption_key_id, presign_id, presign, state)
       VALUES ($1, $2, $3, $4, $5, $6, $7, 'held')
       ON CONFLICT (network, presign_id) DO UPDATE SET state = 'held', presign = excluded.presign, updated_at = now()
       RETURNING id`,
      [
        newId(),
        network,
        data.curve,
        data.signature_algorithm,
        data.dwallet_network_encryption_key_id,
        data.presign_id,
        Uint8Array.from(data.presign),
      ],
    );
    if (row === undefined) throw new Error(`presign ${data.presign_id} was not stored`);
    await sql.query(GIVE_UP, [row.id, ...AUDIT]);
    return row.id;
  }
}

const numbersOf = (data: SignData) => ({
  curve: data.curve,
  signatureAlgorithm: data.signature_algorithm,
  hashScheme: data.hash_scheme,
});

const AUDIT = auditParameters({ actor: "system" });

const CAPTURE = `
WITH reservation AS (
  SELECT id, project_id, price_micro_usd FROM sign_request WHERE id = $1 AND status = 'prepared' FOR UPDATE
), ${postings.capture("reservation")}, queued AS (
  UPDATE sign_request r SET status = 'queued', user_sign_message = $2, updated_at = now()
  FROM reservation s JOIN posting_capture USING (id) WHERE r.id = s.id RETURNING r.id, r.project_id
)
${auditInsert("sign.rebuild", "queued", 3)}`;

const INSERT = `
WITH source AS (SELECT $1::uuid AS id, $2::uuid AS project_id, $3::bigint AS price_micro_usd),
${postings.charge("source")}, inserted AS (
  INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm, hash_scheme,
                            message, user_sign_message, price_micro_usd, status, expires_at, created_at)
  SELECT s.id, s.project_id, $4, $5, $6, $7, $8, $9, $10, $11,
         CASE WHEN p.id IS NULL THEN 0 ELSE s.price_micro_usd END, 'queued',
         coalesce($12::timestamptz, now()), coalesce($12::timestamptz, now())
  FROM source s LEFT JOIN posting_charge p USING (id) RETURNING id, project_id
)
${auditInsert("sign.rebuild", "inserted", 13)}`;

/** A reservation of the older copy that had given this presign up by then. */
const GIVE_UP = `
WITH reservation AS (
  SELECT id, project_id, price_micro_usd FROM sign_request
  WHERE presign_id = $1 AND status = 'prepared' FOR UPDATE
), ${postings.release("reservation")}, failed AS (
  UPDATE sign_request r SET status = 'failed', failure_reason = 'RESERVATION_EXPIRED',
    failure_message = 'the reservation expired before the user''s half was submitted', updated_at = now()
  FROM reservation s JOIN posting_release USING (id) WHERE r.id = s.id RETURNING r.id, r.project_id
)
${auditInsert("sign.expire", "failed", 2)}`;

const WHOSE = "its dWallet is not known, so it was signed and not charged";
