import type { ConfigReader, ConfigVariable } from "./config-reader.ts";
import type { VariableName } from "./config-variables.ts";
import { parseUsdPrice } from "./protocol/usd-price.ts";
import type { Secret } from "./telemetry/secret.ts";

/** The variables of deposits and prices: a part of the one table. */
export const DEPOSIT_VARIABLES = [
  {
    name: "BILLING_DEPOSIT_MASTER_SEED_HEX",
    description:
      "The seed of all deposit addresses, 64 hex digits; unset: no deposits, or on the localnet a public development seed",
    secret: true,
  },
  {
    name: "BILLING_USD_PRICES",
    description:
      "Fixed prices of the coins that are taken, like SUI=3.50,IKA=0.02 or by full coin type; no price feed is asked then",
  },
  {
    name: "BILLING_PRICE_FEED_URL",
    description: "Where prices of SUI and IKA are read, see docs/deposits.md; https, or http on this machine",
  },
  { name: "BILLING_PRICE_FEED_REFRESH_SECONDS", default: "30", description: "How often the feed is read" },
  {
    name: "BILLING_PRICE_FEED_MAX_AGE_SECONDS",
    default: "300",
    description: "Nothing is credited at a price older than this",
  },
  {
    name: "BILLING_PRICE_FEED_MAX_STEP_PERCENT",
    default: "20",
    description: "A price that moves by more is not believed until the feed has held it for the maximum age",
  },
  {
    name: "BILLING_MIN_DEPOSIT_MICRO_USD",
    default: "1000000",
    description: "Deposits wait until together they are worth this much",
  },
  {
    name: "BILLING_DEPOSIT_POLL_SECONDS",
    default: "10",
    description: "How often a deposit address in use is looked at; a quiet one ten times less often",
  },
] as const satisfies readonly ConfigVariable[];

/** Where prices come from. Prices are in pico-USD, by symbol or by full coin type. */
export type PricesConfig =
  | { readonly kind: "fixed"; readonly picoUsd: ReadonlyMap<string, bigint> }
  | {
      readonly kind: "feed";
      readonly url: string;
      readonly refreshMs: number;
      readonly maxAgeMs: number;
      readonly maxStepPercent: number;
    };

/** Deposits as configured. */
export interface DepositsConfig {
  /** 64 hex digits. Undefined: no deposits, but on the localnet its public development seed. */
  readonly masterSeedHex: Secret | undefined;
  readonly prices: PricesConfig;
  readonly minimumMicroUsd: bigint;
  readonly pollMs: number;
}

const LOCALNET_PRICES = "SUI=3.50,IKA=0.02";

/** Reads them. A service that takes deposits outside the localnet must be told where prices come from. */
export function readDeposits(read: ConfigReader<VariableName>, isLocalnet: boolean): DepositsConfig {
  const masterSeedHex = read.secret("BILLING_DEPOSIT_MASTER_SEED_HEX", /^[0-9a-f]{64}$/i, "64 hex digits");
  const feedUrl = read.url("BILLING_PRICE_FEED_URL");
  if (feedUrl !== undefined && !isProtected(feedUrl)) {
    read.fault("BILLING_PRICE_FEED_URL", feedUrl, "an https URL, or http on this machine");
  }
  const fixed = read.optional("BILLING_USD_PRICES");
  if (masterSeedHex && !isLocalnet && fixed === undefined && feedUrl === undefined) {
    read.fault(
      "BILLING_USD_PRICES",
      undefined,
      "prices, or BILLING_PRICE_FEED_URL, where deposits are taken",
    );
  }
  const feed = {
    kind: "feed",
    url: feedUrl ?? "",
    refreshMs: 1000 * read.integer("BILLING_PRICE_FEED_REFRESH_SECONDS", 1, 3_600),
    maxAgeMs: 1000 * read.integer("BILLING_PRICE_FEED_MAX_AGE_SECONDS", 1, 86_400),
    maxStepPercent: read.integer("BILLING_PRICE_FEED_MAX_STEP_PERCENT", 1, 1_000),
  } as const;
  return {
    masterSeedHex,
    prices:
      fixed === undefined && feedUrl !== undefined
        ? feed
        : { kind: "fixed", picoUsd: readPrices(read, fixed ?? (isLocalnet ? LOCALNET_PRICES : "")) },
    minimumMicroUsd: BigInt(read.integer("BILLING_MIN_DEPOSIT_MICRO_USD", 0, 1_000_000_000_000)),
    pollMs: 1000 * read.integer("BILLING_DEPOSIT_POLL_SECONDS", 1, 3_600),
  };
}

function readPrices(read: ConfigReader<VariableName>, text: string): ReadonlyMap<string, bigint> {
  const prices = new Map<string, bigint>();
  for (const item of text.split(",").filter((part) => part.trim() !== "")) {
    const [, coin, price = ""] = /^\s*(SUI|IKA|0x[0-9a-fA-F]+::\w+::\w+)\s*=\s*(\S+)\s*$/.exec(item) ?? [];
    const picoUsd = parseUsdPrice(price);
    if (coin === undefined || picoUsd === undefined || prices.has(coin)) {
      read.fault("BILLING_USD_PRICES", item.trim(), "each coin once, like SUI=3.50,0x…::usdc::USDC=1");
    } else prices.set(coin, picoUsd);
  }
  return prices;
}

function isProtected(url: string): boolean {
  if (!URL.canParse(url)) return true;
  const { protocol, hostname } = new URL(url);
  return protocol === "https:" || ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
}
