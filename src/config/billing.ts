import { parseUsdPrice } from "../billing/prices/usd-price.ts";
import {
  CURVE_ALGORITHMS,
  findSignatureAlgorithm,
  type SignatureAlgorithmName,
} from "../protocol/algorithms.ts";
import type { PriceTable } from "../protocol/price-table.ts";
import { Secret } from "../telemetry/secret.ts";
import type { ConfigReader, ConfigVariable } from "./reader.ts";
import type { VariableName } from "./variables.ts";

/** The variables of what projects pay: a part of the one table. */
export const PRICE_VARIABLES = [
  {
    name: "BILLING_PRICE_SIGN_MICRO_USD",
    default: "10000",
    description: "Price of one signature for a message of up to 1 KiB, in micro-USD",
  },
  {
    name: "BILLING_PRICE_SIGN_BY_ALGORITHM_MICRO_USD",
    default: "",
    description: "The same for algorithms with their own price, like ECDSASecp256k1=12000,EdDSA=8000",
  },
  {
    name: "BILLING_PRICE_MESSAGE_KIB_MICRO_USD",
    default: "6000",
    description: "Surcharge for each further KiB of the message or part of it, in micro-USD",
  },
  {
    name: "BILLING_PRICE_DKG_MICRO_USD",
    default: "20000",
    description: "Price of one dWallet in micro-USD, charged when its DKG is requested",
  },
] as const satisfies readonly ConfigVariable[];

/** The variables of deposits and of what their coins are worth: a part of the one table. */
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
      "Fixed prices of the accepted coins, like SUI=3.50,IKA=0.02 or by full coin type; replaces the price feed",
  },
  {
    name: "BILLING_PRICE_FEED_URL",
    description: "URL of the SUI and IKA price feed, see docs/deposits.md; https, or http on this machine",
    secret: true,
  },
  {
    name: "BILLING_PRICE_FEED_REFRESH_SECONDS",
    default: "30",
    description: "Interval between reads of the feed",
  },
  {
    name: "BILLING_PRICE_FEED_MAX_AGE_SECONDS",
    default: "300",
    description: "Maximum age of a price for crediting",
  },
  {
    name: "BILLING_PRICE_FEED_MAX_STEP_PERCENT",
    default: "20",
    description:
      "Maximum step of a price; a larger one counts only after the feed has held it for the maximum age",
  },
  {
    name: "BILLING_MIN_DEPOSIT_MICRO_USD",
    default: "1000000",
    description: "Deposits wait until their total value reaches this amount",
  },
  {
    name: "BILLING_DEPOSIT_POLL_SECONDS",
    default: "10",
    description: "Interval between scans of an active deposit address; ten times longer for a quiet one",
  },
] as const satisfies readonly ConfigVariable[];

/** Where prices come from. Prices are in pico-USD, by symbol or by full coin type. */
export type PricesConfig =
  | { readonly kind: "fixed"; readonly picoUsd: ReadonlyMap<string, bigint> }
  | {
      readonly kind: "feed";
      /** A feed may want a key in it. */
      readonly url: Secret;
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

const PRICE_MAX_MICRO_USD = 1_000_000_000_000;

/** Reads what the service charges. */
export function readPriceTable(read: ConfigReader<VariableName>): PriceTable {
  const price = (name: VariableName) => BigInt(read.integer(name, 0, PRICE_MAX_MICRO_USD));
  return {
    signMicroUsd: price("BILLING_PRICE_SIGN_MICRO_USD"),
    signByAlgorithmMicroUsd: readAlgorithmPrices(read),
    messageKibMicroUsd: price("BILLING_PRICE_MESSAGE_KIB_MICRO_USD"),
    dkgMicroUsd: price("BILLING_PRICE_DKG_MICRO_USD"),
  };
}

function readAlgorithmPrices(read: ConfigReader<VariableName>): ReadonlyMap<SignatureAlgorithmName, bigint> {
  const name = "BILLING_PRICE_SIGN_BY_ALGORITHM_MICRO_USD";
  const known = CURVE_ALGORITHMS.map(({ signatureAlgorithm }) => signatureAlgorithm);
  const prices = new Map<SignatureAlgorithmName, bigint>();
  for (const item of read.list(name)) {
    const [, text = "", price = ""] = /^(\w+)\s*=\s*(\d{1,13})$/.exec(item) ?? [];
    const algorithm = findSignatureAlgorithm(text);
    if (algorithm === undefined || Number(price) > PRICE_MAX_MICRO_USD || prices.has(algorithm)) {
      const expected = `each of ${known.join(", ")} at most once, with a whole number up to ${PRICE_MAX_MICRO_USD}, like EdDSA=8000`;
      read.fault(name, item, expected);
    } else prices.set(algorithm, BigInt(price));
  }
  return prices;
}

const LOCALNET_PRICES = "SUI=3.50,IKA=0.02";

/** Reads them. A service that takes deposits outside the localnet must be told where prices come from. */
export function readDeposits(read: ConfigReader<VariableName>, isLocalnet: boolean): DepositsConfig {
  const masterSeedHex = read.secret("BILLING_DEPOSIT_MASTER_SEED_HEX", /^[0-9a-f]{64}$/i, "64 hex digits");
  const feedUrl = read.secretUrl("BILLING_PRICE_FEED_URL", /^https?:\/\//, "an http(s) URL");
  if (feedUrl !== undefined && !isProtected(feedUrl.reveal())) {
    read.secretFault("BILLING_PRICE_FEED_URL", feedUrl.reveal(), "an https URL, or http on this machine");
  }
  const fixed = read.optional("BILLING_USD_PRICES");
  if (masterSeedHex && !isLocalnet && fixed === undefined && feedUrl === undefined) {
    read.fault("BILLING_USD_PRICES", undefined, "prices, or BILLING_PRICE_FEED_URL, if deposits are enabled");
  }
  const feed = {
    kind: "feed",
    url: feedUrl ?? new Secret(""),
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
