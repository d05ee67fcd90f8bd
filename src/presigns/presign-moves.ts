import sql, { type Sql } from "sql-template-tag";

/**
 * The moves of presigns that belong to a sign request, as parts of larger statements, so that presign, request and
 * money change together or not at all. Each takes a common table expression with the column `presign_id`, the presign's
 * row.
 *
 * ```
 * requested -> pending -> ready -> held -> used
 *                           ^       |  \-> burnt
 *                           \-------/
 * ```
 *
 * | move | from | to | when |
 * |---|---|---|---|
 * | hold | ready | held | a request is reserved |
 * | release | held | ready | the reservation expires before the user's half arrives |
 * | use | held | used | the transaction landed |
 * | burn | held | burnt | the request fails after it was charged |
 *
 * A presign that was ever part of a stored transaction is used or burnt, and never ready again: two signatures with one
 * presign expose the key.
 */
export const presignMoves = {
  hold: (source: Sql): Sql => move(sql`'held'`, source, sql`'ready'`),
  release: (source: Sql): Sql => move(sql`'ready'`, source, sql`'held'`),
  use: (source: Sql): Sql => move(sql`'used'`, source, sql`'held'`),
  burn: (source: Sql): Sql => move(sql`'burnt'`, source, sql`'held'`),
} as const;

function move(to: Sql, source: Sql, from: Sql): Sql {
  return sql`UPDATE presign p SET state = ${to}, updated_at = now() FROM ${source} s
    WHERE p.id = s.presign_id AND p.state = ${from}`;
}
