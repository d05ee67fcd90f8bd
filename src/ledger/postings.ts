import sql, { type Sql } from "sql-template-tag";

/** The day on which refunds count. */
const TODAY = sql`(now() AT TIME ZONE 'utc')::date`;

/** How long expired reservations count after the last one. */
const LAPSES_COUNT_FOR = sql`interval '1 hour'`;

/** How many expired reservations count against the project of this name in the statement. */
function countedLapses(project: Sql): Sql {
  return sql`CASE WHEN ${project}.lapsed_at > clock_timestamp() - ${LAPSES_COUNT_FOR}
    THEN ${project}.lapsed_reservations ELSE 0 END`;
}

/** What projects are charged for, and how the ledger names the entries: constants of SQL. */
const CHARGES = {
  sign: {
    charge: { kind: sql`'sign'`, description: sql`'Signature'` },
    refund: { kind: sql`'refund'`, description: sql`'Refund of a signature'` },
  },
  dkg: {
    charge: { kind: sql`'dkg'`, description: sql`'dWallet'` },
    refund: { kind: sql`'dkg_refund'`, description: sql`'Refund of a dWallet'` },
  },
} as const;

type Charged = keyof typeof CHARGES;

/**
 * The movements of money that belong to a sign request or to a dWallet's DKG, as parts of larger statements, so that money, state and
 * presign move together or not at all. Each takes the name of a common table expression that holds at most one row
 * with the columns `id` (the request), `project_id` and `price_micro_usd`, and gives further ones.
 * Every ledger entry has a unique key: a second booking raises instead of passing by. The table's own check refuses
 * a balance below what is held, and a negative hold.
 *
 * | posting | balance | held | open reservations | ledger | gives |
 * |---|---|---|---|---|---|
 * | hold | - | + price | + 1 | - | `posting_hold` |
 * | capture | - price | - price | - 1 | sign:<id> | `posting_capture` |
 * | release | - | - price | - 1 | - | `posting_release` |
 * | lapse | - | - price | - 1 | - | `posting_release` |
 * | charge | - price | - | - | sign:<id>, dkg:<id> | `posting_charge` |
 * | refund | + price | - | - | refund:<id>, dkg_refund:<id> | `posting_refund` |
 *
 * A refund's source has a further column `refunds_per_day`: how many such refunds the project may have on one day
 * (UTC), or null where none counts. Above it nothing is posted.
 *
 * A lapse is a release of a reservation that expired. It counts against how many reservations the project may have
 * open, for {@link LAPSES_COUNT_FOR} after the last one, and each capture takes one off that count.
 *
 * What a posting gives has one row exactly if it was made; whatever depends on the money joins it.
 */
export const postings = {
  countedLapses,
  hold: (source: Sql): Sql =>
    sql`posting_hold AS (
      UPDATE project p SET held_micro_usd = p.held_micro_usd + s.price_micro_usd,
                           open_reservations = p.open_reservations + 1
      FROM ${source} s
      WHERE p.id = s.project_id AND p.balance_micro_usd - p.held_micro_usd >= s.price_micro_usd
      RETURNING s.id
    )`,
  capture: (source: Sql): Sql =>
    sql`posting_capture AS (
      UPDATE project p SET balance_micro_usd = p.balance_micro_usd - s.price_micro_usd,
                           held_micro_usd = p.held_micro_usd - s.price_micro_usd,
                           open_reservations = p.open_reservations - 1,
                           lapsed_reservations = greatest(p.lapsed_reservations - 1, 0)
      FROM ${source} s WHERE p.id = s.project_id
      RETURNING s.id
    ), capture_entry AS (${entry(source, sql`posting_capture`, sql`-s.price_micro_usd`, CHARGES.sign.charge)})`,
  /** Without a hold before it: posts nothing where the free balance is too small. */
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
                           lapsed_reservations = ${countedLapses(sql`p`)} + 1,
                           lapsed_at = clock_timestamp()
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

/**
 * The movements of money that belong to deposits, as parts of a larger statement.
 *
 * - `balance` adds the column `value` of `total`, which holds at most one row, to the project's balance and gives the
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

function entry(
  source: Sql,
  posted: Sql,
  amount: Sql,
  named: { readonly kind: Sql; readonly description: Sql },
): Sql {
  const { kind, description } = named;
  return sql`INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
      SELECT s.project_id, ${amount}, ${kind}, ${kind} || ':' || s.id, ${description}
      FROM ${source} s JOIN ${posted} USING (id)`;
}
