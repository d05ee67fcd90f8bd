import sql, { type Sql } from "sql-template-tag";
import { number } from "../../store/columns.ts";
import type { Queryable } from "../../store/database.ts";
import { readRows } from "../../store/statements.ts";
import type { SweepBounds } from "./plan-sweep.ts";

/**
 * Counts the credited coins at a network's deposit addresses, by whether the sweeper will still take them. Coins of a
 * refused sweep wait for their inspection and count as coins that it will take.
 */
export async function countUnsweptCoins(
  db: Queryable,
  network: string,
  { destination, minValueMicroUsd }: SweepTerms,
): Promise<UnsweptCoins> {
  const isEnough = sql`coalesce(sum(value) FILTER (WHERE place <= ${MAX_COIN_COUNT}), 0) >= ${minValueMicroUsd}`;
  const isTaken = destination === undefined ? sql`false` : isEnough;
  const [counts] = await readRows(
    db,
    sql`
WITH coin AS (
  SELECT address, coin_type, value, row_number() OVER (PARTITION BY address, coin_type ORDER BY value DESC) AS place
  FROM (${unswept(network)} AND c.amount > 0) unswept
), kind AS (
  SELECT count(*) AS count, ${isTaken} AS "isTaken" FROM coin GROUP BY address, coin_type
)
SELECT (coalesce(sum(count) FILTER (WHERE "isTaken"), 0)
         + (SELECT coalesce(sum(coin_count), 0) FROM sweep WHERE network = ${network} AND state = 'refused'))::int
         AS "toSweepCount",
       coalesce(sum(count) FILTER (WHERE NOT "isTaken"), 0)::int AS "leftCount" FROM kind`,
    { toSweepCount: number, leftCount: number },
  );
  if (counts === undefined) throw new Error("a count returns no row");
  return counts;
}

/** Where a network's coins are swept to, and from which value on. */
export interface SweepTerms extends Pick<SweepBounds, "minValueMicroUsd"> {
  /** Undefined: nothing is swept. */
  readonly destination: string | undefined;
}

/** The numbers of unswept coins. */
export interface UnsweptCoins {
  readonly toSweepCount: number;
  /** Coins that stay: those of one address and type are worth less than the minimum, or there is no destination. */
  readonly leftCount: number;
}

/** Selects the credited coins that no sweep has taken, each with its share of the credit. */
export const unswept = (network: string): Sql => sql`
  SELECT d.address, d.project_id, a.reference, c.coin_type, c.object_id, c.version, c.digest, c.amount,
         trunc(d.value_micro_usd * c.amount / d.amount)::bigint AS value
  FROM deposit_coin c JOIN deposit d ON d.id = c.deposit_id JOIN deposit_address a ON a.address = d.address
  WHERE d.network = ${network} AND d.state = 'credited' AND c.sweep_id IS NULL`;

/** The maximum number of coins in one sweep. The chain allows 512 arguments of a command and 2048 inputs of a transaction. */
export const MAX_COIN_COUNT = 100;
