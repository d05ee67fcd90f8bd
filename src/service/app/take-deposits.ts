import { type AcceptedCoin, acceptedCoins } from "../billing/deposits/accepted-coins.ts";
import { checkMasterSeed, makeRequestedAddress } from "../billing/deposits/deposit-address.ts";
import { createRecentRefusals, type Deposits } from "../billing/deposits/deposits.ts";
import { createCheckpointFollower } from "../billing/deposits/follow-checkpoints.ts";
import { createAddressMaker } from "../billing/deposits/request-address.ts";
import { createDepositWatcher, createWaitingCredit } from "../billing/deposits/watch-deposits.ts";
import { createPriceFeed, type PriceFeedOptions } from "../billing/prices/price-feed.ts";
import {
  createCoinbaseReader,
  createJsonFeedReader,
  createPythReader,
  type PriceReader,
} from "../billing/prices/price-readers.ts";
import { fixedPrices, type PriceSource } from "../billing/prices/price-source.ts";
import { createCheckpointReader } from "../chain/checkpoint-reader.ts";
import type { AnnouncedNetwork } from "../chain/fullnodes/announced-network.ts";
import type { CallerReads } from "../chain/fullnodes/caller-reads.ts";
import type { ChainNetwork } from "../chain/fullnodes/network.ts";
import { createPaymentReader } from "../chain/payment-reader.ts";
import { type DepositsConfig, readDepositSeed } from "../config/deposits.ts";
import type { PriceSourcesConfig } from "../config/price-sources.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import type { NamedLoop } from "../platform/lifecycle/start-loops.ts";
import type { Database } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";

/**
 * Sets up deposits as configured. Throws if another network uses the localnet's public seed, or if the database's
 * addresses have another seed.
 */
export async function takeDeposits(options: TakeDepositsOptions): Promise<TakenDeposits> {
  const { database, network, callerReads, config, announced, signals, log } = options;
  const masterSeed = announced ? undefined : readDepositSeed(network.name, config);
  if (masterSeed === undefined && !announced?.takesDeposits)
    return { deposits: undefined, pricedCoins: [], priceLoops: [], watchLoops: [] };
  if (masterSeed) await checkMasterSeed(database, { network: network.name, masterSeed });
  const reader = createPaymentReader(network);
  const readerFor = (projectId: string) => createPaymentReader({ ...network, ...callerReads(projectId) });
  const { clock } = network;
  const recentRefusals = createRecentRefusals(clock);
  const { prices: priced, minimumMicroUsd, maxReferences, pollMs } = config;
  const names = new Set([...priced.fixed.keys(), ...(priced.sources ? coveredBy(priced.sources) : [])]);
  if (names.size === 0)
    throw new Error(
      "BILLING_PRICE_SOURCES, BILLING_USD_PRICES: deposits are enabled; set what the workers have",
    );
  tellPrices(priced, log);
  const coins = await acceptedCoins(names, network.ikaConfig.packages.ikaPackage, reader);
  const checkpoints = createCheckpointReader(
    network,
    coins.map(({ coinType }) => coinType),
  );
  const base = { database, network: network.name, coins };
  const bounds = { minimumMicroUsd, maxReferences, usersMaxCount: options.usersMaxCount };
  const { prices, pricedCoins, priceLoops } = pricesOf(priced, { ...base, clock, log, fetch: network.fetch });
  const requests = { signals, clock };
  const deposits = { ...base, ...bounds, masterSeed, requests, prices, reader, readerFor, recentRefusals };
  return {
    deposits,
    pricedCoins,
    priceLoops,
    watchLoops: [
      { name: "deposits", loop: createDepositWatcher(deposits, { pollMs, signals, clock, log }) },
      { name: "waiting deposits", loop: createWaitingCredit(deposits, { clock, log }) },
      {
        name: "checkpoints",
        loop: createCheckpointFollower(deposits, { reader: checkpoints, pollMs, signals, clock, log }),
      },
      {
        name: "deposit addresses",
        loop: createAddressMaker(base, { signals, clock, log }, (db, owner) =>
          makeRequestedAddress(db, deposits, owner),
        ),
      },
    ],
  };
}

export interface TakeDepositsOptions {
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly callerReads: CallerReads;
  readonly config: DepositsConfig;
  readonly usersMaxCount: number;
  /** What a process with the keys announced. Undefined in such a process. */
  readonly announced?: Pick<AnnouncedNetwork, "takesDeposits"> | undefined;
  readonly signals: Signals;
  readonly log: Log;
}

/** Deposits, and the loops that watch them and their prices. */
export interface TakenDeposits {
  /** Undefined if the service takes no deposits. */
  readonly deposits: Deposits | undefined;
  /** The accepted coins whose prices come from sources. */
  readonly pricedCoins: readonly AcceptedCoin[];
  /** The loops that keep the prices fresh. */
  readonly priceLoops: Loops;
  /** The loops that find and credit deposits. */
  readonly watchLoops: Loops;
}

type Loops = readonly NamedLoop[];

function pricesOf(
  { fixed, sources }: DepositsConfig["prices"],
  {
    fetch,
    ...options
  }: Pick<PriceFeedOptions, "database" | "network" | "coins" | "clock" | "log"> & Pick<ChainNetwork, "fetch">,
): { prices: PriceSource } & Pick<TakenDeposits, "pricedCoins" | "priceLoops"> {
  const { clock } = options;
  const unchanging = fixedPrices(options.coins, fixed, clock);
  if (sources === undefined) return { prices: unchanging, pricedCoins: [], priceLoops: [] };
  const feed = createPriceFeed({ ...sources, ...options, readers: readersOf(sources, { clock, fetch }) });
  return { prices: feed, pricedCoins: options.coins, priceLoops: [{ name: "price feed", loop: feed.loop }] };
}

/** Says which coins and sources the fixed prices exclude. */
function tellPrices({ ignoredSources, unpriced }: DepositsConfig["prices"], log: Log): void {
  if (ignoredSources.length > 0)
    log.warn({ sources: ignoredSources }, "BILLING_USD_PRICES is set, so no price source is read");
  if (unpriced.length > 0)
    log.warn(
      { coins: unpriced },
      "coins are not accepted as deposits, because BILLING_USD_PRICES has no price of them",
    );
}

/** Returns the coins that at least one source prices. Deposits of any other coin would wait forever. */
function coveredBy({ pyth, coinbase, feed }: PriceSourcesConfig): string[] {
  if (feed) return ["SUI", "IKA"];
  return [...(pyth?.feedIds.keys() ?? []), ...(coinbase?.products.keys() ?? [])];
}

function readersOf(
  { pyth, coinbase, feed }: PriceSourcesConfig,
  call: Pick<ChainNetwork, "clock" | "fetch">,
): PriceReader[] {
  const readers: PriceReader[] = [];
  if (pyth)
    readers.push(
      createPythReader({ ...pyth, ...call, url: pyth.url.reveal(), apiKey: pyth.apiKey?.reveal() }),
    );
  if (coinbase) readers.push(createCoinbaseReader({ ...coinbase, ...call }));
  if (feed) readers.push(createJsonFeedReader(feed.url.reveal(), call));
  return readers;
}
