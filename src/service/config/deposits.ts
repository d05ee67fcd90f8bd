import { localnetDepositSeed } from "../../localnet/seed.ts";
import { hexToBytes } from "../../protocol/bytes.ts";
import { parseUsdPrice } from "../billing/prices/price-source.ts";
import { Secret } from "../platform/telemetry/secret.ts";
import { type PriceSourcesConfig, readPriceSources } from "./price-sources.ts";
import type { ConfigReader } from "./reader.ts";
import { SWEEP_DESTINATION } from "./variables/billing-variables.ts";
import type { VariableName } from "./variables.ts";

/** Reads the settings of deposits. Outside the localnet, a service that takes deposits needs a source of prices. */
export function readDepositsConfig(read: ConfigReader<VariableName>, isLocalnet: boolean): DepositsConfig {
  const masterSeedHex = read.secretKey("BILLING_DEPOSIT_MASTER_SEED_HEX");
  const sources = readPriceSources(read);
  const fixed = read.optional("BILLING_USD_PRICES");
  if (masterSeedHex && !isLocalnet && fixed === undefined && sources === undefined) {
    read.fault("BILLING_USD_PRICES", undefined, "prices, or BILLING_PRICE_SOURCES, if deposits are enabled");
  }
  const usual = isLocalnet && sources === undefined ? LOCALNET_PRICES : "";
  const prices = readPrices(read, fixed ?? usual);
  const priced = new Set([...prices.keys()].map(nameOfCoin));
  return {
    masterSeedHex,
    prices: {
      fixed: prices,
      sources: fixed === undefined ? sources : undefined,
      ignoredSources: fixed === undefined ? [] : sourceNames(sources),
      unpriced: fixed === undefined ? [] : ["SUI", "IKA"].filter((name) => !priced.has(name)),
    },
    minimumMicroUsd: BigInt(read.integer("BILLING_MIN_DEPOSIT_MICRO_USD", 0, 1_000_000_000_000)),
    pollMs: 1000 * read.integer("BILLING_DEPOSIT_POLL_SECONDS", 1, 3_600),
    maxReferences: read.integer("BILLING_MAX_DEPOSIT_REFERENCES", 0, 10_000_000),
  };
}

/** The sources of prices. */
interface PricesConfig {
  /** In pico-USD, by `SUI`, `IKA` or full coin type. */
  readonly fixed: ReadonlyMap<string, bigint>;
  /** The sources of the prices of SUI and IKA. Undefined with `BILLING_USD_PRICES`: the service then calls none. */
  readonly sources: PriceSourcesConfig | undefined;
  /** The names of configured sources that `BILLING_USD_PRICES` turns off. */
  readonly ignoredSources: readonly string[];
  /** SUI and IKA, as far as `BILLING_USD_PRICES` has no price of them. The service does not accept them. */
  readonly unpriced: readonly string[];
}

/** The settings of deposits. */
export interface DepositsConfig {
  /**
   * 64 hex digits. If undefined, the localnet uses its public development seed, and other networks take no deposits.
   * Undefined in an api process, which asks workers for addresses.
   */
  readonly masterSeedHex: Secret | undefined;
  readonly prices: PricesConfig;
  readonly minimumMicroUsd: bigint;
  readonly pollMs: number;
  /** The maximum number of a project's deposit addresses with a reference. */
  readonly maxReferences: number;
}

const LOCALNET_PRICES = "SUI=3.50,IKA=0.02";

/** Returns `SUI` for the full type of SUI. The package of IKA is not known yet, so its module and name decide. */
function nameOfCoin(coin: string): string {
  if (/^0x0*2::sui::SUI$/.test(coin)) return "SUI";
  return coin.endsWith("::ika::IKA") ? "IKA" : coin;
}

function sourceNames(sources: PriceSourcesConfig | undefined): string[] {
  const { pyth, coinbase, feed } = sources ?? {};
  return Object.entries({ pyth, coinbase, feed }).flatMap(([name, source]) => (source ? [name] : []));
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

/** Reads the settings of a network's sweeps. */
export function readSweepConfig(
  read: ConfigReader<VariableName>,
  network: keyof typeof SWEEP_DESTINATION,
): SweepConfig {
  const destination = read.optional(SWEEP_DESTINATION[network]);
  if (destination !== undefined && (!ADDRESS.test(destination) || ZERO_ADDRESS.test(destination)))
    read.fault(SWEEP_DESTINATION[network], destination, "a Sui address, 0x and 64 hex digits, not zero");
  return {
    destination: destination?.toLowerCase(),
    minValueMicroUsd: BigInt(read.integer("BILLING_SWEEP_MIN_MICRO_USD", 0, 1_000_000_000_000)),
    intervalMs: 1000 * read.integer("BILLING_SWEEP_INTERVAL_SECONDS", 1, 86_400),
  };
}

/** The destination and the threshold of sweeps. */
export interface SweepConfig {
  /** A Sui address in lower case. Undefined: nothing is swept. */
  readonly destination: string | undefined;
  /** Coins of one address and type wait until their credit reaches this sum. */
  readonly minValueMicroUsd: bigint;
  readonly intervalMs: number;
}

/** Nobody owns this address, so coins sent there are lost. */
const ZERO_ADDRESS = /^0x0+$/;
const ADDRESS = /^0x[0-9a-f]{64}$/i;

/**
 * Returns the seed of a network's deposit addresses; undefined if the service takes no deposits there. The default seed
 * of a localnet is public, and the configuration refuses it on other networks.
 */
export function readDepositSeed(
  network: string,
  { masterSeedHex: hex }: Pick<DepositsConfig, "masterSeedHex">,
): Secret<Uint8Array> | undefined {
  if (hex !== undefined) return new Secret(hexToBytes(hex.reveal().toLowerCase()));
  return network === "localnet" ? new Secret(localnetDepositSeed()) : undefined;
}
