import sql, { type Sql } from "sql-template-tag";
import { bigint, oneOf, text } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";

/**
 * Recomputes all money from the ledger, the sign requests, the dWallets and the deposits at one moment in time. Returns
 * every difference; an empty list means that everything adds up.
 */
export function verifyLedger(db: Queryable): Promise<LedgerDifference[]> {
  return readRows(db, everyDifference(), {
    kind: oneOf(...DIFFERENCE_KINDS),
    subject: text,
    expected: bigint,
    actual: bigint,
  });
}

/**
 * `balance`: a project's balance is not the sum of its entries. `held`: not the sum of its open reservations.
 * `reservations`: its counter is not their number.
 * `charge`, `refund`: the entry of a sign request or a dWallet is missing, has the wrong amount, or has no reason.
 * `deposit`: a deposit's entry is missing, has the wrong amount, or precedes the credit.
 * `orphan`: an entry without its sign request, dWallet or deposit.
 */
export const DIFFERENCE_KINDS = [
  "balance",
  "held",
  "reservations",
  "charge",
  "refund",
  "deposit",
  "orphan",
] as const;

/** A difference between the ledger and the other tables. */
export interface LedgerDifference {
  readonly kind: (typeof DIFFERENCE_KINDS)[number];
  /** The project, the sign request, the row of the dWallet, the deposit, or the key of the entry. */
  readonly subject: string;
  /** In micro-USD, except for `reservations`. */
  readonly expected: bigint;
  readonly actual: bigint;
}

const everyDifference = (): Sql => sql`
WITH entries AS (
  SELECT project_id, sum(amount_micro_usd)::bigint AS total FROM ledger_entry GROUP BY project_id
), reservations AS (
  SELECT project_id, sum(price_micro_usd)::bigint AS total, count(*) AS number
  FROM sign_request WHERE status = 'prepared' GROUP BY project_id
), requests AS (
  SELECT id, project_id, 'sign' AS charged_as, 'refund' AS refunded_as,
    -- A submitted request was charged. An expired one was never submitted.
    CASE WHEN status <> 'prepared' AND user_sign_message IS NOT NULL THEN -price_micro_usd ELSE 0 END AS charge,
    CASE WHEN status = 'failed' AND refunded THEN price_micro_usd
      -- A held half that was not released keeps the price of the hold.
      - CASE WHEN hold_state = 'ended' THEN hold_price_micro_usd ELSE 0 END ELSE 0 END AS refund
  FROM sign_request
  UNION ALL
  SELECT id, project_id, 'dkg', 'dkg_refund', -price_micro_usd, CASE WHEN refunded THEN price_micro_usd ELSE 0 END
  FROM dwallet
  UNION ALL
  SELECT id, project_id, 'share', 'share_refund', -price_micro_usd, CASE WHEN refunded THEN price_micro_usd ELSE 0 END
  FROM dwallet_share
), bookings AS (
  SELECT project_id, kind, key, split_part(key, ':', 2) AS subject, amount_micro_usd
  FROM ledger_entry WHERE kind IN ('sign', 'refund', 'dkg', 'dkg_refund', 'share', 'share_refund')
), deposits AS (
  SELECT id, project_id, CASE WHEN state = 'credited' THEN value_micro_usd ELSE 0 END AS value,
    'deposit:' || network || ':' || tx_digest || ':' || address || ':' || coin_type AS key
  FROM deposit
), deposited AS (
  SELECT project_id, key, amount_micro_usd FROM ledger_entry WHERE kind = 'deposit'
), differences AS (
  SELECT 'balance' AS kind, p.id::text AS subject, coalesce(e.total, 0) AS expected, p.balance_micro_usd AS actual
  FROM project p LEFT JOIN entries e ON e.project_id = p.id
  UNION ALL
  SELECT 'held', p.id::text, coalesce(r.total, 0), p.held_micro_usd
  FROM project p LEFT JOIN reservations r ON r.project_id = p.id
  UNION ALL
  SELECT 'reservations', p.id::text, coalesce(r.number, 0), p.open_reservations
  FROM project p LEFT JOIN reservations r ON r.project_id = p.id
  UNION ALL
  SELECT 'charge', r.id::text, r.charge, coalesce(b.amount_micro_usd, 0)
  FROM requests r LEFT JOIN bookings b
    ON b.kind = r.charged_as AND b.subject = r.id::text AND b.project_id = r.project_id
  UNION ALL
  SELECT 'refund', r.id::text, r.refund, coalesce(b.amount_micro_usd, 0)
  FROM requests r LEFT JOIN bookings b
    ON b.kind = r.refunded_as AND b.subject = r.id::text AND b.project_id = r.project_id
  UNION ALL
  SELECT 'orphan', b.key, 0, b.amount_micro_usd
  FROM bookings b LEFT JOIN requests r
    ON r.id::text = b.subject AND r.project_id = b.project_id AND b.kind IN (r.charged_as, r.refunded_as)
  WHERE r.id IS NULL
  UNION ALL
  SELECT 'deposit', d.id::text, d.value, coalesce(e.amount_micro_usd, 0)
  FROM deposits d LEFT JOIN deposited e ON e.key = d.key AND e.project_id = d.project_id
  UNION ALL
  SELECT 'orphan', e.key, 0, e.amount_micro_usd
  FROM deposited e LEFT JOIN deposits d ON d.key = e.key AND d.project_id = e.project_id
  WHERE d.id IS NULL
)
SELECT kind, subject, expected::bigint AS expected, actual::bigint AS actual
FROM differences WHERE expected <> actual ORDER BY kind, subject`;
