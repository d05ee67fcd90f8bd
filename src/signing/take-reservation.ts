import { postings } from "../billing/postings.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import { keyInsert, keyParameters } from "../idempotency/key-table.ts";
import { type AuditOrigin, auditInsert, auditParameters } from "../store/audit.ts";
import type { Sql } from "../store/database.ts";

/** A sign request to be written. */
export interface NewReservation {
  readonly id: string;
  readonly projectId: string;
  /** The row. */
  readonly dwalletId: string;
  readonly network: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly networkEncryptionKeyId: string;
  readonly message: Uint8Array;
  readonly priceMicroUsd: bigint;
  readonly ttlMs: number;
  /** How many reservations the project may have open, this one included, while none of its own expire. */
  readonly openMaxCount: number;
  readonly idempotency: Idempotency | undefined;
}

/** What became of an attempt. Where nothing was reserved, an earlier call may have the idempotency key. */
export type ReservationOutcome = "reserved" | "no presign" | "no credit" | TooManyOpen;

/** The project has as many open reservations as it may have now. */
export interface TooManyOpen {
  readonly openMaxCount: number;
}

/**
 * Takes the oldest ready presign of the bucket, holds the price and writes the request, all or nothing, in one
 * statement. The project's row is locked first, so that its calls are decided one after the other, and a presign is
 * only taken by who can pay. Each reservation that expired lately takes one off how many may be open, down to a tenth:
 * who lets presigns expire holds few of them, and credit that is never spent does not keep presigns from others.
 * Nothing is reserved while the idempotency key is another request's.
 */
export async function takeReservation(
  sql: Sql,
  origin: AuditOrigin,
  reservation: NewReservation,
): Promise<ReservationOutcome> {
  const [outcome] = await sql.query<Outcome>(RESERVE, [
    reservation.id,
    reservation.projectId,
    reservation.dwalletId,
    reservation.network,
    reservation.curve,
    reservation.signatureAlgorithm,
    reservation.hashScheme,
    reservation.networkEncryptionKeyId,
    reservation.message,
    reservation.priceMicroUsd,
    reservation.ttlMs,
    reservation.openMaxCount,
    ...auditParameters(origin),
    ...keyParameters({ scope: reservation.projectId, network: reservation.network }, reservation.idempotency),
  ]);
  if (outcome?.reserved) return "reserved";
  if (outcome?.funded && !outcome.allowed) return { openMaxCount: outcome.openMaxCount };
  return outcome?.funded ? "no presign" : "no credit";
}

interface Outcome {
  readonly funded: boolean;
  readonly allowed: boolean;
  readonly openMaxCount: number;
  readonly reserved: boolean;
}

/** Of the usual number, what a project may have open however many of its reservations have expired: one tenth. */
const LEAST_SHARE = 10;

const RESERVE = `
WITH account AS (
  SELECT balance_micro_usd - held_micro_usd >= $10::bigint AS funded, open_reservations,
    greatest($12::integer - (${postings.countedLapses("project")}), $12::integer / ${LEAST_SHARE}, 1) AS open_max
  FROM project WHERE id = $2::uuid FOR UPDATE
), funds AS (
  SELECT funded, open_max, open_reservations < open_max AS allowed FROM account
), claim AS (
  SELECT $1::uuid AS id, $2::uuid AS project_id, $10::bigint AS price_micro_usd, presign.id AS presign_row
  FROM presign
  WHERE network = $4 AND curve = $5 AND signature_algorithm = $6 AND network_encryption_key_id = $8
    AND state = 'ready' AND (SELECT funded AND allowed FROM funds)
  ORDER BY presign.id LIMIT 1 FOR UPDATE SKIP LOCKED
), keyed AS (${keyInsert("(SELECT id AS subject_id FROM claim) AS made", 16)}), granted AS (
  SELECT * FROM claim WHERE $18::text IS NULL OR EXISTS (SELECT 1 FROM keyed)
), ${postings.hold("granted")}, reserved AS (
  INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm, hash_scheme,
                            message, price_micro_usd, status, expires_at)
  SELECT c.id, c.project_id, $3, c.presign_row, $4, $5, $6, $7, $9, c.price_micro_usd, 'prepared',
         clock_timestamp() + $11::double precision * interval '1 millisecond'
  FROM granted c JOIN posting_hold USING (id)
  RETURNING id, project_id
), taken AS (
  UPDATE presign SET state = 'held', updated_at = now()
  FROM granted c JOIN reserved USING (id) WHERE presign.id = c.presign_row
), audited AS (${auditInsert("sign.reserve", "reserved", 13)})
SELECT coalesce((SELECT funded FROM funds), false) AS funded,
  coalesce((SELECT allowed FROM funds), false) AS allowed,
  coalesce((SELECT open_max FROM funds), 0) AS "openMaxCount",
  (SELECT count(*) FROM reserved) > 0 AS reserved`;
