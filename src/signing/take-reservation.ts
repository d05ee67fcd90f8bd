import sql, { type Sql } from "sql-template-tag";
import { type AuditOrigin, auditInsert } from "../audit/audit-event.ts";
import type { Idempotency } from "../idempotency/idempotency.ts";
import { keyInsert } from "../idempotency/key-table.ts";
import { postings } from "../ledger/postings.ts";
import { inTurn, presignMoves } from "../presigns/presign-moves.ts";
import { boolean, number } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";

/**
 * Takes the next ready presign of the bucket, holds the price and inserts the request, all or nothing, in one
 * statement. It locks the project's row first, so a project's calls are decided one after the other, and only a project
 * that can pay takes a presign. Each recently expired reservation lowers the maximum of open ones by one, down to a
 * tenth. A project that lets presigns expire thus holds few of them, and unspent credit does not keep presigns from
 * others. Reserves nothing if another request has the idempotency key.
 *
 * The dWallet must be Active. Its row is locked FOR SHARE until the reservation is committed, so a later exit sees the
 * reservation, and a later reservation sees the exit.
 */
export async function takeReservation(
  db: Queryable,
  origin: AuditOrigin,
  reservation: NewReservation,
): Promise<ReservationOutcome> {
  const [outcome] = await readRows(db, reserve(origin, reservation), OUTCOME);
  if (outcome?.reserved) return "reserved";
  if (outcome?.signable === false) return "not-active";
  if (outcome?.funded && !outcome.allowed) return { openMaxCount: outcome.openMaxCount };
  return outcome?.funded ? "no-presign" : "no-credit";
}

export interface NewReservation {
  readonly id: string;
  readonly projectId: string;
  /** The id of the dWallet's row. */
  readonly dwalletId: string;
  readonly network: string;
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly networkEncryptionKeyId: string;
  readonly message: Uint8Array;
  readonly priceMicroUsd: bigint;
  readonly ttlMs: number;
  /** The maximum number of the project's open reservations, including this one, while none of them expires. */
  readonly openMaxCount: number;
  readonly idempotency: Idempotency | undefined;
}

/** The outcome of an attempt. If nothing was reserved, an earlier call may own the idempotency key. */
export type ReservationOutcome = "reserved" | "no-presign" | "no-credit" | "not-active" | TooManyOpen;

/** The project has the maximum number of open reservations. */
export interface TooManyOpen {
  readonly openMaxCount: number;
}

const OUTCOME = {
  funded: boolean,
  allowed: boolean,
  openMaxCount: number,
  signable: boolean,
  reserved: boolean,
};

/** The share of the maximum that a project keeps however many of its reservations have expired: one tenth. */
const LEAST_SHARE = 10;

function reserve(origin: AuditOrigin, reservation: NewReservation): Sql {
  const { id, projectId, dwalletId, network, curve, signatureAlgorithm, hashScheme } = reservation;
  const { networkEncryptionKeyId, message, priceMicroUsd, ttlMs, openMaxCount, idempotency } = reservation;
  const claimed = sql`(SELECT id AS subject_id FROM claim) AS made`;
  return sql`
WITH account AS (
  SELECT balance_micro_usd - held_micro_usd >= ${priceMicroUsd}::bigint AS funded, open_reservations,
    greatest(${openMaxCount}::integer - (${postings.countedLapses(sql`project`)}),
             ${openMaxCount}::integer / ${LEAST_SHARE}::integer, 1) AS open_max
  FROM project WHERE id = ${projectId}::uuid FOR UPDATE
), dwallet_now AS (
  SELECT 1 FROM dwallet WHERE id = ${dwalletId}::uuid AND state = 'Active' FOR SHARE
), funds AS (
  SELECT funded, open_max, open_reservations < open_max AS allowed FROM account
), claim AS (
  SELECT ${id}::uuid AS id, ${projectId}::uuid AS project_id, ${priceMicroUsd}::bigint AS price_micro_usd,
         presign.id AS presign_row
  FROM presign
  WHERE network = ${network} AND curve = ${curve} AND signature_algorithm = ${signatureAlgorithm}
    AND network_encryption_key_id = ${networkEncryptionKeyId}
    AND state = 'ready' AND (SELECT funded AND allowed FROM funds) AND EXISTS (SELECT 1 FROM dwallet_now)
  ORDER BY ${inTurn} LIMIT 1 FOR UPDATE SKIP LOCKED
), keyed AS (${keyInsert(claimed, { scope: projectId, network }, idempotency)}), granted AS (
  SELECT * FROM claim WHERE ${idempotency === undefined} OR EXISTS (SELECT 1 FROM keyed)
), ${postings.hold(sql`granted`)}, reserved AS (
  INSERT INTO sign_request (id, project_id, dwallet_id, presign_id, network, curve, signature_algorithm, hash_scheme,
                            message, price_micro_usd, status, expires_at)
  SELECT c.id, c.project_id, ${dwalletId}, c.presign_row, ${network}, ${curve}, ${signatureAlgorithm}, ${hashScheme},
         ${message}, c.price_micro_usd, 'prepared',
         clock_timestamp() + ${ttlMs}::double precision * interval '1 millisecond'
  FROM granted c JOIN posting_hold USING (id)
  RETURNING id, project_id, presign_id
), held AS (${presignMoves.hold(sql`reserved`)}), audited AS (${auditInsert("sign.reserve", sql`reserved`, origin)})
SELECT coalesce((SELECT funded FROM funds), false) AS funded,
  coalesce((SELECT allowed FROM funds), false) AS allowed,
  coalesce((SELECT open_max FROM funds), 0) AS "openMaxCount",
  EXISTS (SELECT 1 FROM dwallet_now) AS signable,
  (SELECT count(*) FROM reserved) > 0 AS reserved`;
}
