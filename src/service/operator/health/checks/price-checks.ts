import { formatPriceUsd } from "../../../../protocol/price-table.ts";
import { formatUsdPrice } from "../../../billing/prices/price-source.ts";
import { listStoredPrices, type StoredPrice } from "../../../billing/prices/stored-prices.ts";
import { readDepositSeed } from "../../../config/deposits.ts";
import type { NetworkConfig } from "../../../config/networks.ts";
import { isSchemaMissing } from "../../../platform/store/sql-errors.ts";
import {
  type Finding,
  type HealthCheck,
  type NetworkSubject,
  NotChecked,
  reachable,
} from "./health-check.ts";

/** Returns the check of the prices at which deposits are credited. A network without deposits has none. */
export function priceChecks(subject: NetworkSubject): HealthCheck[] {
  const { name, deposits } = subject.config;
  if (readDepositSeed(name, deposits) === undefined) return [];
  return [
    {
      name: "coin prices",
      advice: "check that the user of DATABASE_URL may read the table coin_price",
      look: () => lookAtPrices(subject, deposits.prices),
    },
  ];
}

async function lookAtPrices(
  subject: NetworkSubject,
  prices: NetworkConfig["deposits"]["prices"],
): Promise<Finding> {
  const { fixed, sources, ignoredSources, unpriced } = prices;
  const parts = [...fixed].map(([coin, picoUsd]) => `${coin} at ${shown(picoUsd)}, fixed`);
  if (unpriced.length > 0)
    parts.push(`not accepted, because BILLING_USD_PRICES has no price of it: ${unpriced.join(", ")}`);
  if (ignoredSources.length > 0) {
    return {
      status: "warn",
      found: [...parts, `not read: ${ignoredSources.join(", ")}`].join("; "),
      advice:
        "BILLING_USD_PRICES alone sets the prices; remove it to read the sources, or remove BILLING_PRICE_SOURCES",
    };
  }
  if (sources === undefined) return { status: unpriced.length > 0 ? "info" : "ok", found: parts.join("; ") };
  const stored = await readPrices(subject);
  if (stored.length === 0) return { status: "info", found: "no source has given a price yet" };
  const waiting = stored.filter(({ doubted }) => doubted !== undefined);
  const found = stored.map(describePrice).join("; ");
  if (waiting.length === 0) return { status: "ok", found };
  const advice =
    "compare the waiting price with another source; if it is right, confirm it with `tss coin-price confirm`";
  return { status: "warn", found, advice };
}

async function readPrices(subject: NetworkSubject): Promise<StoredPrice[]> {
  const db = await reachable(subject);
  try {
    return await listStoredPrices(db, subject.config.name);
  } catch (error) {
    if (isSchemaMissing(error)) throw new NotChecked("the database is not migrated");
    throw error;
  }
}

function describePrice({ coinType, picoUsd, time, doubted }: StoredPrice): string {
  const accepted = `${coinType} at ${shown(picoUsd)} of ${time.toISOString()}`;
  if (doubted === undefined) return accepted;
  const { price, beyond, since } = doubted;
  return `${accepted}, and ${shown(price.picoUsd)} waits since ${since.toISOString()}: it is beyond the maximum of ${BOUNDS[beyond]}`;
}

const shown = (picoUsd: bigint): string => formatPriceUsd(formatUsdPrice(picoUsd));
const BOUNDS = { step: "one step", hour: "an hour", day: "a day" } as const;
