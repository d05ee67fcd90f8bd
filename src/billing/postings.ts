/** SQL for the day on which refunds count. */
const TODAY = "(now() AT TIME ZONE 'utc')::date";

/** SQL for how long expired reservations count after the last one. */
const LAPSES_COUNT_FOR = "interval '1 hour'";

/** SQL for how many expired reservations count against the project of this name. */
function countedLapses(project: string): string {
  return `CASE WHEN ${project}.lapsed_at > clock_timestamp() - ${LAPSES_COUNT_FOR}
    THEN ${project}.lapsed_reservations ELSE 0 END`;
}

/** What projects are charged for, and how the ledger names it. */
const CHARGES = {
  sign: { charge: "Signature", refundKind: "refund", refund: "Refund of a signature" },
  dkg: { charge: "dWallet", refundKind: "dkg_refund", refund: "Refund of a dWallet" },
} as const;

/** One of them: the kind of its ledger entry. */
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
  hold: (source: string): string =>
    `posting_hold AS (
      UPDATE project p SET held_micro_usd = p.held_micro_usd + s.price_micro_usd,
                           open_reservations = p.open_reservations + 1
      FROM ${source} s
      WHERE p.id = s.project_id AND p.balance_micro_usd - p.held_micro_usd >= s.price_micro_usd
      RETURNING s.id
    )`,
  capture: (source: string): string =>
    `posting_capture AS (
      UPDATE project p SET balance_micro_usd = p.balance_micro_usd - s.price_micro_usd,
                           held_micro_usd = p.held_micro_usd - s.price_micro_usd,
                           open_reservations = p.open_reservations - 1,
                           lapsed_reservations = greatest(p.lapsed_reservations - 1, 0)
      FROM ${source} s WHERE p.id = s.project_id
      RETURNING s.id
    ), capture_entry AS (${entry(source, "posting_capture", "sign", "-s.price_micro_usd", "Signature")})`,
  /** Without a hold before it: posts nothing where the free balance is too small. */
  charge: (source: string, of: Charged = "sign"): string =>
    `posting_charge AS (
      UPDATE project p SET balance_micro_usd = p.balance_micro_usd - s.price_micro_usd
      FROM ${source} s
      WHERE p.id = s.project_id AND p.balance_micro_usd - p.held_micro_usd >= s.price_micro_usd
      RETURNING s.id
    ), charge_entry AS (${entry(source, "posting_charge", of, "-s.price_micro_usd", CHARGES[of].charge)})`,
  release: (source: string): string =>
    `posting_release AS (
      UPDATE project p SET held_micro_usd = p.held_micro_usd - s.price_micro_usd,
                           open_reservations = p.open_reservations - 1
      FROM ${source} s WHERE p.id = s.project_id
      RETURNING s.id
    )`,
  lapse: (source: string): string =>
    `posting_release AS (
      UPDATE project p SET held_micro_usd = p.held_micro_usd - s.price_micro_usd,
                           open_reservations = p.open_reservations - 1,
                           lapsed_reservations = ${countedLapses("p")} + 1,
                           lapsed_at = clock_timestamp()
      FROM ${source} s WHERE p.id = s.project_id
      RETURNING s.id
    )`,
  refund: (source: string, of: Charged = "sign"): string =>
    `posting_refund AS (
      UPDATE project p SET
        balance_micro_usd = p.balance_micro_usd + s.price_micro_usd,
        refund_day = CASE WHEN s.refunds_per_day IS NULL THEN p.refund_day ELSE ${TODAY} END,
        refunds_on_day = CASE WHEN s.refunds_per_day IS NULL THEN p.refunds_on_day
                              WHEN p.refund_day = ${TODAY} THEN p.refunds_on_day + 1 ELSE 1 END
      FROM ${source} s
      WHERE p.id = s.project_id AND (s.refunds_per_day IS NULL OR s.refunds_per_day >
        CASE WHEN p.refund_day = ${TODAY} THEN p.refunds_on_day ELSE 0 END)
      RETURNING s.id
    ), refund_entry AS (${entry(source, "posting_refund", CHARGES[of].refundKind, "s.price_micro_usd", CHARGES[of].refund)})`,
} as const;

function entry(source: string, posted: string, kind: string, amount: string, description: string): string {
  return `INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
      SELECT s.project_id, ${amount}, '${kind}', '${kind}:' || s.id, '${description}'
      FROM ${source} s JOIN ${posted} USING (id)`;
}
