import { type AuditOrigin, auditInsert, auditParameters } from "../../store/audit.ts";
import type { Sql } from "../../store/database.ts";
import type { Deposits } from "./deposits.ts";

/** What crediting needs. */
export type CreditDeps = Pick<Deposits, "network" | "coins" | "prices" | "minimumMicroUsd">;

/**
 * Credits the project's waiting deposits at the prices of now, if together they reach the minimum: state, balance, one
 * ledger entry each and the audit trail move in one statement. Deposits without a fresh price stay and are not counted.
 * A value is the amount times the price, rounded down to a micro-USD. Returns how many were credited.
 */
export async function creditDeposits(
  sql: Sql,
  origin: AuditOrigin,
  deps: CreditDeps,
  projectId: string,
): Promise<number> {
  const credited = await sql.query<{ id: string }>(CREDIT, [
    projectId,
    deps.network,
    ...priceParameters(deps),
    deps.minimumMicroUsd,
    ...auditParameters(origin),
  ]);
  return credited.length;
}

/** What the project's waiting deposits with a fresh price are worth now, in micro-USD. */
export async function waitingValue(
  sql: Sql,
  deps: Omit<CreditDeps, "minimumMicroUsd">,
  projectId: string,
): Promise<bigint> {
  const [sum] = await sql.query<{ value: bigint }>(
    `WITH waiting AS (${WAITING}) SELECT coalesce(sum(value), 0)::bigint AS value FROM waiting`,
    [projectId, deps.network, ...priceParameters(deps)],
  );
  return sum?.value ?? 0n;
}

/** Coin types that have a fresh price, the prices, and what to divide pico-USD per coin by for micro-USD per unit. */
function priceParameters({
  coins,
  prices,
}: Pick<Deposits, "coins" | "prices">): [string[], string[], string[]] {
  const priced = coins.flatMap(({ coinType, decimals }) => {
    const price = prices.priceOf(coinType);
    return price === undefined ? [] : [{ coinType, price, scale: 10n ** BigInt(decimals + 6) }];
  });
  return [
    priced.map(({ coinType }) => coinType),
    priced.map(({ price }) => price.picoUsd.toString()),
    priced.map(({ scale }) => scale.toString()),
  ];
}

const WAITING = `
  SELECT d.id, d.project_id, p.price, div(d.amount * p.price, p.scale)::bigint AS value,
    'deposit:' || d.network || ':' || d.tx_digest || ':' || d.address || ':' || d.coin_type AS key
  FROM deposit d JOIN unnest($3::text[], $4::bigint[], $5::numeric[]) AS p (coin_type, price, scale) USING (coin_type)
  WHERE d.project_id = $1::uuid AND d.network = $2 AND d.state = 'waiting'`;

/**
 * The rows are locked before they are added up, so that of two who credit at once the second sees none. The entries
 * are written under the project's lock, as all entries are.
 */
const CREDIT = `
WITH waiting AS (${WAITING} ORDER BY d.id FOR UPDATE OF d), total AS (
  SELECT sum(value)::bigint AS value FROM waiting HAVING sum(value) >= $6::bigint
), changed AS (
  UPDATE project SET balance_micro_usd = balance_micro_usd + total.value FROM total WHERE id = $1::uuid
  RETURNING id AS project_id
), credited AS (
  UPDATE deposit d SET state = 'credited', price_pico_usd = w.price, value_micro_usd = w.value, ledger_key = w.key,
    credited_at = now()
  FROM waiting w JOIN changed USING (project_id) WHERE d.id = w.id
  RETURNING d.id, d.project_id
), entries AS (
  INSERT INTO ledger_entry (project_id, amount_micro_usd, kind, key, description)
  SELECT w.project_id, w.value, 'deposit', w.key, 'Deposit' FROM waiting w JOIN changed USING (project_id)
), audited AS (${auditInsert("deposit.credit", "credited", 7)})
SELECT id FROM credited`;
