import sql, { type Sql } from "sql-template-tag";
import type { DepositsConfig } from "../config/deposits.ts";
import { nullable, number } from "../store/columns.ts";
import type { Queryable } from "../store/database.ts";
import { readRows } from "../store/statements.ts";
import type { MetricsMaker } from "../telemetry/network-metrics.ts";

/**
 * Registers gauges for the age of the prices and checkpoints that a network's deposits depend on, and returns a
 * function that updates them. Fixed prices have no age. Without deposits, the gauges have no value.
 */
export function createDepositAges(
  metrics: Pick<MetricsMaker, "gauge">,
  { database, network, deposits }: DepositAgesOptions,
): () => Promise<void> {
  const price = metrics.gauge("price_age_seconds", "Age of the price for crediting deposits.");
  const checkpoints = metrics.gauge(
    "deposit_checkpoints_age_seconds",
    "Time since every checkpoint had been read for deposits; no value if they never had.",
  );
  for (const gauge of [price, checkpoints]) gauge.remove();
  const show = async (gauge: typeof price, statement: Sql) => {
    const [row] = await readRows(database, statement, { seconds: nullable(number) });
    if (row === undefined || row.seconds === null) gauge.remove();
    else gauge.set(row.seconds);
  };
  return async () => {
    await show(
      checkpoints,
      sql`SELECT extract(epoch FROM now() - max(caught_up_at))::float8 AS seconds FROM checkpoint_follower
          WHERE network = ${network}`,
    );
    if (deposits.prices.sources === undefined) return;
    await show(
      price,
      sql`SELECT extract(epoch FROM now() - min(read_at))::float8 AS seconds FROM coin_price
          WHERE network = ${network}`,
    );
  };
}

export interface DepositAgesOptions {
  readonly database: Queryable;
  readonly network: string;
  readonly deposits: Pick<DepositsConfig, "prices">;
}
