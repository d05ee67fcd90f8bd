import sql from "sql-template-tag";
import type { Clock } from "../lifecycle/clock.ts";
import { nullable, number, text } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { MetricsMaker } from "../telemetry/network-metrics.ts";

/**
 * Registers gauges for the age of the prices and checkpoints that a network's deposits depend on, and returns a
 * function that updates them. A coin that was never priced is as old as the gauges. Fixed prices have no age. Without
 * deposits, the gauges have no value.
 */
export function createDepositAges(
  metrics: Pick<MetricsMaker, "gauge">,
  { database, network, pricedCoins, clock }: DepositAgesOptions,
): () => Promise<void> {
  const price = metrics.gauge("price_age_seconds", "Age of a coin's price for crediting deposits.", ["coin"]);
  const checkpoints = metrics.gauge(
    "deposit_checkpoints_age_seconds",
    "Time since every checkpoint had been read for deposits; no value if they never had.",
  );
  checkpoints.remove();
  const startMs = clock.now();
  return async () => {
    const [follower] = await readRows(
      database,
      sql`SELECT extract(epoch FROM now() - max(caught_up_at))::float8 AS seconds FROM checkpoint_follower
          WHERE network = ${network}`,
      { seconds: nullable(number) },
    );
    if (follower === undefined || follower.seconds === null) checkpoints.remove();
    else checkpoints.set(follower.seconds);
    if (pricedCoins.length === 0) return;
    const rows = await readRows(
      database,
      sql`SELECT coin_type, extract(epoch FROM now() - read_at)::float8 AS seconds FROM coin_price
          WHERE network = ${network}`,
      { coin_type: text, seconds: number },
    );
    const ages = new Map(rows.map(({ coin_type, seconds }) => [coin_type, seconds]));
    for (const { symbol, coinType } of pricedCoins)
      price.set({ coin: symbol }, ages.get(coinType) ?? (clock.now() - startMs) / 1000);
  };
}

export interface DepositAgesOptions {
  readonly database: Queryable;
  readonly network: string;
  /**
   * The coins that price sources price now. The table also keeps the last prices of coins that have had a fixed price
   * since.
   */
  readonly pricedCoins: readonly PricedCoin[];
  readonly clock: Pick<Clock, "now">;
}

/** A coin by its symbol and its normalised type. */
export interface PricedCoin {
  readonly symbol: string;
  readonly coinType: string;
}
