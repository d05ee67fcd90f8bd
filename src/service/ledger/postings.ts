import sql, { type Sql } from "sql-template-tag";

/** The UTC day on which a refund counts. */
const TODAY = sql`(now() AT TIME ZONE 'utc')::date`;

/** How long expired reservations count after the last one. */
const LAPSES_COUNT_FOR = sql`interval '1 hour'`;

/**
 * Returns SQL for the number of expired reservations that count against the project with this name in the statement.
 */
function countedLapses(project: Sql): Sql {
  return sql`CASE WHEN ${project}.lapsed_at > clock_timestamp() - ${LAPSES_COUNT_FOR}
    THEN ${project}.lapsed_reservations ELSE 0 END`;
}

/** The chargeable subjects and the prefixes of their ledger keys, as SQL constants. */
const CHARGES = {
  sign: {
    charge: { kind: sql`'sign'`, description: sql`'Signature'` },
    refund: { kind: sql`'refund'`, description: sql`'Refund of a signature'` },
  },
  dkg: {
    charge: { kind: sql`'dkg'`, description: sql`'dWallet'` },
    refund: { kind: sql`'dkg_refund'`, description: sql`'Refund of a dWallet'` },
  },
  share: {
    charge: { kind: sql`'share'`, description: sql`'Share of a dWallet'` },
    refund: { kind: sql`'share_refund'`, description: sql`'Refund of a share'` },
  },
} as const;

/**
 * The movements of money that belong to a sign request, to a dWallet's DKG or to its share for another user, as parts of larger statements, so that
 * money, state and presign change together or not at all. Each takes the name of a common table expression with the
 * columns `id` (the request), `project_id` and `price_micro_usd`, and adds further expressions. The expression holds at
 * most one row; for hold and capture, any number of rows of one project, which are posted together or not at all. Every
 * ledger entry has a unique key, so a second booking raises an error. The table's check constraint refuses a balance
 * below the held amount, and a negative hold.
 *
 * A hold and a charge post nothing unless the price is free both now and when the statement began. PostgreSQL finds the
 * row in the version of that time, and looks at the newest version afterwards.
 *
 * | posting | balance | held | open reservations | ledger | adds |
 * |---|---|---|---|---|---|
 * | hold | - | + price | + 1 | - | `posting_hold` |
 * | capture | - price | - price | - 1 | sign:<id> | `posting_capture` |
 * | release | - | - price | - 1 | - | `posting_release` |
 * | lapse | - | - price | - 1 | - | `posting_release` |
 * | charge | - price | - | - | sign:<id>, dkg:<id>, share:<id> | `posting_charge` |
 * | refund | + price | - | - | refund:<id>, dkg_refund:<id>, share_refund:<id> | `posting_refund` |
 *
 * The source of a refund also has the column `refunds_per_day`: the maximum number of such refunds of the project on
 * one day (UTC), or null without a limit. Beyond it, nothing is posted.
 *
 * A lapse is the release of an expired reservation. It lowers the maximum of open reservations of the project for
 * {@link LAPSES_COUNT_FOR} after the last one. Each capture takes one lapse off the count. The source of a lapse also
 * has the column `is_excused`: true if the project could not prevent it, so that it does not count.
 *
 * The result of a posting has a row with the column `id` for each request that was posted. Join it to whatever depends
 * on the money. `capture_entry`, `charge_entry` and `refund_entry` have the same rows with the columns `ledger_entry_id`
 * and `amount_micro_usd`, for the audit trail.
 */
export const postings = {
  countedLapses,
  hold: (source: Sql): Sql =>
    sql`holding_project AS (
      UPDATE project p SET held_micro_usd = p.held_micro_usd + s.price_micro_usd,
                           open_reservations = p.open_reservations + s.request_count
      FROM ${sumOf(source)} s
      WHERE p.id = s.project_id AND p.balance_micro_usd - p.held_micro_usd >= s.price_micro_usd
      RETURNING p.id
    ), posting_hold AS (SELECT s.id FROM ${source} s JOIN holding_project p ON p.id = s.project_id)`,
  capture: (source: Sql): Sql =>
    sql`charged_project AS (
      UPDATE project p SET balance_micro_usd = p.balance_micro_usd - s.price_micro_usd,
                           held_micro_usd = p.held_micro_usd - s.price_micro_usd,
                           open_reservations = p.open_reservations - s.request_count,
                           lapsed_reservations = greatest(p.lapsed_reservations - s.request_count, 0)
      FROM ${sumOf(source)} s WHERE p.id = s.project_id
      RETURNING p.id
    ), posting_capture AS (SELECT s.id FROM ${source} s JOIN charged_project p ON p.id = s.project_id
    ), capture_entry AS (${entry(source, sql`posting_capture`, sql`-s.price_micro_usd`, CHARGES.sign.charge)})`,
  /** A charge without a preceding hold. Posts nothing if the free balance is too small. */
  charge: (source: Sql, of: Charged = "sign"): Sql =>
    sql`posting_charge AS (
      UPDATE project p SET balance_micro_usd = p.balance_micro_usd - s.price_micro_usd
      FROM ${source} s
      WHERE p.id = s.project_id AND p.balance_micro_usd - p.held_micro_usd >= s.price_micro_usd
      RETURNING s.id
    ), charge_entry AS (${entry(source, sql`posting_charge`, sql`-s.price_micro_usd`, CHARGES[of].charge)})`,
  release: (source: Sql): Sql =>
    sql`posting_release AS (
      UPDATE project p SET held_micro_usd = p.held_micro_usd - s.price_micro_usd,
                           open_reservations = p.open_reservations - 1
      FROM ${source} s WHERE p.id = s.project_id
      RETURNING s.id
    )`,
  lapse: (source: Sql): Sql =>
    sql`posting_release AS (
      UPDATE project p SET held_micro_usd = p.held_micro_usd - s.price_micro_usd,
                           open_reservations = p.open_reservations - 1,
                           lapsed_reservations = ${countedLapses(sql`p`)} + CASE WHEN s.is_excused THEN 0 ELSE 1 END,
                           lapsed_at = CASE WHEN s.is_excused THEN p.lapsed_at ELSE clock_timestamp() END
      FROM ${source} s WHERE p.id = s.project_id
      RETURNING s.id
    )`,
  refund: (source: Sql, of: Charged = "sign"): Sql =>
    sql`posting_refund AS (
      UPDATE project p SET
        balance_micro_usd = p.balance_micro_usd + s.price_micro_usd,
        refund_day = CASE WHEN s.refunds_per_day IS NULL THEN p.refund_day ELSE ${TODAY} END,
        refunds_on_day = CASE WHEN s.refunds_per_day IS NULL THEN p.refunds_on_day
                              WHEN p.refund_day = ${TODAY} THEN p.refunds_on_day + 1 ELSE 1 END
      FROM ${source} s
      WHERE p.id = s.project_id AND (s.refunds_per_day IS NULL OR s.refunds_per_day >
        CASE WHEN p.refund_day = ${TODAY} THEN p.refunds_on_day ELSE 0 END)
      RETURNING s.id
    ), refund_entry AS (${entry(source, sql`posting_refund`, sql`s.price_micro_usd`, CHARGES[of].refund)})`,
} as const;

type Charged = keyof typeof CHARGES;

/**
 * The movements of money that belong to deposits, as parts of a larger statement.
 *
 * - `balance` adds the column `value` of `total`, which holds at most one row, to the project's balance and returns the
 *   column `project_id`.
 * - `entries` writes a ledger entry for each row of `source`, which has the columns `project_id`, `value` and `key`.
 */
export const depositPostings = {
  balance: (total: Sql, projectId: string): Sql =>
    sql`UPDATE project SET balance_micro_usd = balance_micro_usd + s.value FROM ${total} s WHERE id = ${projectId}::uuid
      RETURNING id AS project_id`,
  entries: (source: Sql): Sql =>
    sql`INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
      SELECT project_id, value, 'deposit', key, 'Deposit' FROM ${source}`,
} as const;

/** Returns the total price and the number of a source's requests. */
function sumOf(source: Sql): Sql {
  return sql`(SELECT project_id, sum(price_micro_usd)::bigint AS price_micro_usd, count(*)::integer AS request_count
      FROM ${source} GROUP BY project_id)`;
}

function entry(
  source: Sql,
  posted: Sql,
  amount: Sql,
  named: { readonly kind: Sql; readonly description: Sql },
): Sql {
  const { kind, description } = named;
  return sql`INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
      SELECT s.project_id, ${amount}, ${kind}, ${kind} || ':' || s.id, ${description}
      FROM ${source} s JOIN ${posted} USING (id)
      RETURNING split_part(key, ':', 2)::uuid AS id, key AS ledger_entry_id, amount_micro_usd`;
}
