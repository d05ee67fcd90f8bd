import sql from "sql-template-tag";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import { nullable, number, text } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { MetricsMaker } from "../../platform/telemetry/network-metrics.ts";

/**
 * Registers gauges for the age and the movement of the prices, and the age of the checkpoints, that a network's deposits
 * depend on, and returns a function that updates them. A coin that was never priced is as old as the gauges. Fixed prices have no age. Without
 * deposits, the gauges have no value.
 */
export function createDepositAges(
  metrics: MetricsMaker,
  { database, network, pricedCoins, priceBounds, clock }: DepositAgesOptions,
): () => Promise<void> {
  const price = metrics.gauge("price_age_seconds", "Age of a coin's price for crediting deposits.", ["coin"]);
  const waiting = metrics.gauge(
    "price_waiting_seconds",
    "Time since a coin's price moved beyond a bound and waits; 0 while none waits.",
    ["coin"],
  );
  const movement = metrics.gauge(
    "price_movement_ratio",
    "Movement of a coin's accepted prices within the window, as a share of its maximum.",
    ["coin", "window"],
  );
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
      sql`SELECT coin_type, extract(epoch FROM now() - read_at)::float8 AS seconds,
            coalesce(extract(epoch FROM now() - doubted_since), 0)::float8 AS waiting
          FROM coin_price WHERE network = ${network}`,
      { coin_type: text, seconds: number, waiting: number },
    );
    const ages = new Map(rows.map((row) => [row.coin_type, row]));
    const moves = new Map((await readMovements(database, network)).map((row) => [row.coin_type, row]));
    for (const { symbol: coin, coinType } of pricedCoins) {
      const row = ages.get(coinType);
      price.set({ coin }, row?.seconds ?? (clock.now() - startMs) / 1000);
      waiting.set({ coin }, row?.waiting ?? 0);
      const moved = moves.get(coinType);
      movement.set({ coin, window: "hour" }, (moved?.hour ?? 0) / priceBounds.maxHourPercent);
      movement.set({ coin, window: "day" }, (moved?.day ?? 0) / priceBounds.maxDayPercent);
    }
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
  /** How far a price moves, in percent. */
  readonly priceBounds: { readonly maxHourPercent: number; readonly maxDayPercent: number };
  readonly clock: Pick<Clock, "now">;
}

/** A coin by its symbol and its normalised type. */
export interface PricedCoin {
  readonly symbol: string;
  readonly coinType: string;
}

/** Returns how far the accepted prices of each coin moved, in percent of the lowest. */
function readMovements(db: Queryable, network: string) {
  return readRows(
    db,
    sql`SELECT coin_type, (100 * (max(high_pico_usd) - min(low_pico_usd))::float8 / min(low_pico_usd)) AS day,
          coalesce(100 * (max(high_pico_usd) FILTER (WHERE is_recent) - min(low_pico_usd) FILTER (WHERE is_recent))::float8
            / min(low_pico_usd) FILTER (WHERE is_recent), 0) AS hour
        FROM (SELECT *, began_at > now() - interval '1 hour' AS is_recent FROM coin_price_range
          WHERE network = ${network} AND began_at > now() - interval '1 day') AS r
        GROUP BY coin_type`,
    { coin_type: text, day: number, hour: number },
  );
}
