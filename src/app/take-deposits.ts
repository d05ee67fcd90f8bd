import { acceptedCoins } from "../billing/deposits/accepted-coins.ts";
import { createWaitingCredit } from "../billing/deposits/credit-waiting.ts";
import { checkMasterSeed } from "../billing/deposits/deposit-address.ts";
import type { Deposits } from "../billing/deposits/deposits.ts";
import { createCheckpointFollower } from "../billing/deposits/follow-checkpoints.ts";
import { createRecentRefusals } from "../billing/deposits/recent-refusals.ts";
import { createDepositWatcher } from "../billing/deposits/watch-deposits.ts";
import { createCoinbaseReader } from "../billing/prices/coinbase.ts";
import { createJsonFeedReader } from "../billing/prices/json-feed.ts";
import { createPriceFeed, type PriceFeedOptions } from "../billing/prices/price-feed.ts";
import type { PriceReader } from "../billing/prices/price-reading.ts";
import { fixedPrices, type PriceSource } from "../billing/prices/price-source.ts";
import { createPythReader } from "../billing/prices/pyth.ts";
import type { CallerReads } from "../chain/caller-reads.ts";
import { createCheckpointReader } from "../chain/checkpoint-reader.ts";
import type { ChainNetwork } from "../chain/network.ts";
import { createPaymentReader } from "../chain/payment-reader.ts";
import type { DepositsConfig } from "../config/deposits.ts";
import type { PriceSourcesConfig } from "../config/price-sources.ts";
import type { Clock } from "../lifecycle/clock.ts";
import type { Loop } from "../lifecycle/start-loops.ts";
import { localnetDepositSeed } from "../localnet/seed.ts";
import { hexToBytes } from "../protocol/bytes.ts";
import type { Database } from "../store/database.ts";
import type { Log } from "../telemetry/log.ts";
import { Secret } from "../telemetry/secret.ts";

/**
 * Sets up deposits as configured. Throws if the seed is the localnet's public one on another network, or differs from
 * the seed of the database's addresses.
 */
export async function takeDeposits(options: TakeDepositsOptions): Promise<TakenDeposits> {
  const { database, network, callerReads, config, log } = options;
  const masterSeed = masterSeedOf(network.name, config.masterSeedHex);
  if (masterSeed === undefined) return { deposits: undefined, priceLoops: {}, watchLoops: {} };
  await checkMasterSeed(database, { network: network.name, masterSeed });
  const reader = createPaymentReader(network);
  const readerFor = (projectId: string) => createPaymentReader({ ...network, ...callerReads(projectId) });
  const { clock } = network;
  const recentRefusals = createRecentRefusals(clock);
  const { prices: priced, minimumMicroUsd, maxReferences, pollMs } = config;
  const names = new Set([...priced.fixed.keys(), ...(priced.sources ? coveredBy(priced.sources) : [])]);
  const coins = await acceptedCoins(names, network.ikaConfig.packages.ikaPackage, reader);
  const checkpoints = createCheckpointReader(
    network,
    coins.map(({ coinType }) => coinType),
  );
  const base = { database, network: network.name, coins };
  const bounds = { minimumMicroUsd, maxReferences };
  const { prices, priceLoops } = pricesOf(priced, { ...base, clock, log });
  const deposits = { ...base, ...bounds, masterSeed, prices, reader, readerFor, recentRefusals };
  return {
    deposits,
    priceLoops,
    watchLoops: {
      deposits: createDepositWatcher(deposits, { pollMs, clock, log }),
      "waiting deposits": createWaitingCredit(deposits, { clock, log }),
      checkpoints: createCheckpointFollower(deposits, { reader: checkpoints, pollMs, clock, log }),
    },
  };
}

export interface TakeDepositsOptions {
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly callerReads: CallerReads;
  readonly config: DepositsConfig;
  readonly log: Pick<Log, "info" | "warn" | "error">;
}

/** Deposits, and the loops that watch them and their prices. */
export interface TakenDeposits {
  /** Undefined if the service takes no deposits. */
  readonly deposits: Deposits | undefined;
  /** Keeps the prices fresh. */
  readonly priceLoops: Loops;
  /** Finds and credits deposits. */
  readonly watchLoops: Loops;
}

type Loops = Readonly<Record<string, Loop>>;

function pricesOf(
  { fixed, sources }: DepositsConfig["prices"],
  options: Pick<PriceFeedOptions, "database" | "network" | "coins" | "clock" | "log">,
): { prices: PriceSource; priceLoops: Loops } {
  const unchanging = fixedPrices(options.coins, fixed, options.clock);
  const coins = options.coins.filter(({ name }) => !fixed.has(name));
  if (sources === undefined || coins.length === 0) return { prices: unchanging, priceLoops: {} };
  const feed = createPriceFeed({ ...sources, ...options, coins, readers: readersOf(sources, options.clock) });
  const prices: PriceSource = {
    priceOf: (coinType) => unchanging.priceOf(coinType) ?? feed.priceOf(coinType),
    refresh: (signal) => feed.refresh(signal),
  };
  return { prices, priceLoops: { "price feed": feed.loop } };
}

/** The coins that at least one source prices. Any other coin would wait for a price forever. */
function coveredBy({ pyth, coinbase, feed }: PriceSourcesConfig): string[] {
  if (feed) return ["SUI", "IKA"];
  return [...(pyth?.feedIds.keys() ?? []), ...(coinbase?.products.keys() ?? [])];
}

function readersOf({ pyth, coinbase, feed }: PriceSourcesConfig, clock: Clock): PriceReader[] {
  const readers: PriceReader[] = [];
  if (pyth)
    readers.push(createPythReader({ ...pyth, clock, url: pyth.url.reveal(), apiKey: pyth.apiKey?.reveal() }));
  if (coinbase) readers.push(createCoinbaseReader({ ...coinbase, clock }));
  if (feed) readers.push(createJsonFeedReader(feed.url.reveal(), { clock }));
  return readers;
}

/** The configured seed. The configuration refuses the public seed outside the localnet. */
function masterSeedOf(network: string, hex: Secret | undefined): Secret<Uint8Array> | undefined {
  if (hex !== undefined) return new Secret(hexToBytes(hex.reveal().toLowerCase()));
  return network === "localnet" ? new Secret(localnetDepositSeed()) : undefined;
}
