import sql, { type Sql } from "sql-template-tag";
import { text } from "../platform/store/columns.ts";
import { execute, newId, type Queryable, readRows } from "../platform/store/database.ts";
import type { PresignBucket } from "./bucket.ts";

/**
 * All moves of presigns. Those of this value belong to a sign request. They are parts of larger statements, so that
 * presign, request and money change together or not at all. Each takes a common table expression with the column
 * `presign_id`, the presign's row. The moves of {@link poolMoves} belong to no request.
 *
 * ```
 * requested --> pending --> ready <--> held --> used
 *     |            |          |         |
 *     \------------+----------+---------+-----> burnt
 * ```
 *
 * | move | from | to | when |
 * |---|---|---|---|
 * | land | requested | pending | the transaction that requests it landed |
 * | giveUp | requested | burnt | that transaction can never land |
 * | fill | pending | ready | the network made it |
 * | refuse | pending | burnt | the network rejected it, or made an unsupported version |
 * | hold | ready | held | a request is reserved |
 * | release | held | ready | the reservation expires before the user's half arrives |
 * | use | held | used | the transaction landed |
 * | burn | held | burnt | the request fails after it was charged |
 * | withdraw | pending, ready | burnt | after a restore: the chain has already used it |
 * | holdLost | any | held | after a restore: the chain has a request of it that the database lost |
 *
 * A release also notes the time. A presign whose bytes were handed out goes to the end of its bucket's queue, see
 * {@link inTurn}. It is not burnt, because a caller could then destroy presigns for free.
 *
 * A presign starts as requested. After a restore, it starts as pending if only the Treasury knows it, and as held if a
 * lost request has it.
 *
 * A presign that was ever part of a stored transaction is used or burnt, and never ready again: two signatures with one
 * presign expose the key. `holdLost` is the only move out of used and burnt, and its presign goes to the request that
 * the chain already has.
 */
export const presignMoves = {
  hold: (source: Sql): Sql => move(sql`'held'`, source, sql`'ready'`),
  release: (source: Sql): Sql => move(sql`'ready', returned_at = now()`, source, sql`'held'`),
  use: (source: Sql): Sql => move(sql`'used'`, source, sql`'held'`),
  burn: (source: Sql): Sql => move(sql`'burnt'`, source, sql`'held'`),
} as const;

/**
 * The order in which ready presigns are reserved: those that nobody has seen, the oldest first, then those that were
 * returned, the longest ago first. So the bytes of an expired reservation are not offered for another message while the
 * bucket has other presigns.
 */
export const inTurn: Sql = sql`presign.returned_at NULLS FIRST, presign.id`;

/** The moves of presigns that belong to no sign request. Each is a statement, apart from `holdLost`. */
export const poolMoves = {
  /** Takes a relation `news` with the columns `id`, the row, and `presign_id`, the object. */
  land: (news: Sql, txDigest: string): Sql =>
    sql`UPDATE presign p SET state = 'pending', presign_id = news.presign_id, tx_digest = ${txDigest},
            updated_at = now()
          FROM ${news}
          WHERE p.id = news.id AND p.state = 'requested'`,
  giveUp: (id: string): Sql =>
    sql`UPDATE presign SET state = 'burnt', updated_at = now() WHERE id = ${id} AND state = 'requested'`,
  /** Returns the ids of the presigns that it has moved. Locks them in one order, because replicas fill the same ones. */
  fill: (made: readonly MadePresign[]): Sql =>
    sql`WITH locked AS MATERIALIZED (
          SELECT id FROM presign WHERE id = ANY(${made.map(({ id }) => id)}::uuid[]) AND state = 'pending'
          ORDER BY id FOR UPDATE
        )
        UPDATE presign p SET state = 'ready', presign = made.presign, ready_at = now(), updated_at = now()
        FROM unnest(${made.map(({ id }) => id)}::uuid[], ${made.map(({ algorithm }) => algorithm.curveNumber)}::int[],
                    ${made.map(({ algorithm }) => algorithm.signatureAlgorithmNumber)}::int[],
                    ${made.map(({ algorithm }) => algorithm.dwalletId ?? null)}::text[],
                    ${made.map(({ presign }) => presign)}::bytea[])
          AS made (id, curve, signature_algorithm, dwallet_id, presign) JOIN locked USING (id)
        WHERE p.id = made.id AND p.curve = made.curve AND p.signature_algorithm = made.signature_algorithm
          AND made.dwallet_id IS NOT DISTINCT FROM ${DWALLET} RETURNING p.id`,
  refuse: (id: string, algorithm: SessionAlgorithm): Sql =>
    sql`UPDATE presign SET state = 'burnt', updated_at = now() ${pending(id, algorithm)}`,
  withdraw: (ids: readonly string[]): Sql =>
    sql`UPDATE presign SET state = 'burnt', updated_at = now()
        WHERE id = ANY(${ids}::uuid[]) AND state IN ('pending', 'ready') RETURNING id`,
  /** Ends the insert of a held presign, for one that the database knows. */
  holdLost: sql`ON CONFLICT (network, presign_id) DO UPDATE
        SET state = 'held', presign = excluded.presign, updated_at = now()`,
} as const;

/** The bytes of a presign, which the network has made. */
export interface MadePresign {
  /** The id of the row. */
  readonly id: string;
  readonly algorithm: SessionAlgorithm;
  readonly presign: Uint8Array;
}

/** The only dWallet that can use the presign of a row, or null. */
const DWALLET = sql`CASE WHEN of_dwallet THEN network_encryption_key_id END`;

/** The curve and the algorithm of a session, as the chain's integers, and the only dWallet that can use its presign. */
interface SessionAlgorithm {
  /** Undefined for a presign of the pool. */
  readonly dwalletId?: string | undefined;
  readonly curveNumber: number;
  readonly signatureAlgorithmNumber: number;
}

const pending = (id: string, { curveNumber, signatureAlgorithmNumber, dwalletId }: SessionAlgorithm): Sql =>
  sql`WHERE id = ${id} AND state = 'pending' AND curve = ${curveNumber}
        AND signature_algorithm = ${signatureAlgorithmNumber}
        AND ${dwalletId ?? null}::text IS NOT DISTINCT FROM ${DWALLET} RETURNING id`;

function move(to: Sql, source: Sql, from: Sql): Sql {
  return sql`UPDATE presign p SET state = ${to}, updated_at = now() FROM ${source} s
    WHERE p.id = s.presign_id AND p.state = ${from}`;
}

interface ChainPresign {
  /** The id of the presign's object. */
  readonly presignId: string;
  readonly presign: Uint8Array;
}

/**
 * Marks the presign of a sign request that the database has lost as held, whatever its state in the database. Inserts
 * it if it is unknown. Returns its row.
 */
export async function holdLostPresign(
  db: Queryable,
  bucket: PresignBucket,
  { presignId, presign }: ChainPresign,
): Promise<string> {
  const { network, curve, signatureAlgorithm, networkEncryptionKeyId, ofDWallet = false } = bucket;
  const [row] = await readRows(
    db,
    sql`INSERT INTO presign
          (id, network, curve, signature_algorithm, network_encryption_key_id, of_dwallet, presign_id, presign, state)
        VALUES (${newId()}, ${network}, ${curve}, ${signatureAlgorithm}, ${networkEncryptionKeyId}, ${ofDWallet},
                ${presignId}, ${presign}, 'held')
        ${poolMoves.holdLost}
        RETURNING id`,
    { id: text },
  );
  if (row === undefined) throw new Error(`presign ${presignId} was not stored`);
  return row.id;
}

/** Removes presigns that no request holds from the pool. Returns their number. */
export async function burnPooledPresigns(db: Queryable, ids: readonly string[]): Promise<number> {
  return execute(db, poolMoves.withdraw(ids));
}
