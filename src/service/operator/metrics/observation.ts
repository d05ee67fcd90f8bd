import type { ChainNetwork } from "../../chain/fullnodes/network.ts";
import type { NetworkReader } from "../../chain/reader.ts";
import { createTreasuryReader } from "../../chain/treasury/treasury-reader.ts";
import type { NetworkConfig } from "../../config/networks.ts";
import { createBackgroundLoop } from "../../platform/lifecycle/background-loop.ts";
import type { Clock } from "../../platform/lifecycle/clock.ts";
import type { NamedLoop } from "../../platform/lifecycle/start-loops.ts";
import type { Database } from "../../platform/store/database.ts";
import type { Log } from "../../platform/telemetry/logger.ts";
import type { MetricsMaker } from "../../platform/telemetry/network-metrics.ts";
import { readWarmBuckets } from "../../presigns/bucket.ts";
import { createChainGauges, readChainFigures } from "./chain-figures.ts";
import { createDatabaseGauges } from "./database-gauges.ts";
import { createDepositAges, type PricedCoin } from "./deposit-ages.ts";
import { createFullnodeGauges } from "./fullnode-gauges.ts";
import { readDatabaseFigures } from "./read-database-figures.ts";

/**
 * Creates loops that read figures of one network from the database and the chain into gauges, so that a scrape is
 * cheap. Every replica shows the same figures, with their age in `service_snapshot_age_seconds`. Aggregate them with
 * max.
 */
export function createObservation(options: ObservationOptions): NamedLoop[] {
  const { metrics, database, network, reader, config } = options;
  const laneIds = network.treasury.operatorCapIds;
  const treasury = createTreasuryReader(network);
  const loopOf = createSnapshotLoops({ ...options, clock: network.clock });
  let newestKeyId: string | undefined;

  const up = metrics.gauge("dependency_up", "1 if this replica's last read of the dependency succeeded.", [
    "dependency",
  ]);
  const showDatabase = createDatabaseGauges(metrics, {
    laneIds,
    newestNetworkEncryptionKeyId: () => newestKeyId,
  });
  const showChain = createChainGauges(metrics, laneIds);
  createFullnodeGauges(metrics, network.fullnodes);
  const showDepositAges = createDepositAges(metrics, {
    database,
    network: network.name,
    pricedCoins: options.pricedCoins,
    priceBounds: config.deposits.prices.sources ?? { maxHourPercent: 1, maxDayPercent: 1 },
    clock: network.clock,
  });
  const marks = metrics.gauge("presign_water_mark", "Configured bounds of a presign bucket.", ["mark"]);
  marks.set({ mark: "low" }, config.presignLowWaterCount);
  marks.set({ mark: "high" }, config.presignHighWaterCount);

  return [
    loopOf({
      name: "database",
      intervalMs: DATABASE_INTERVAL_MS,
      read: () => tell("database", readDatabase),
    }),
    loopOf({
      name: "chain",
      intervalMs: CHAIN_INTERVAL_MS,
      read: () => tell("fullnode", readChain),
    }),
  ];

  async function readDatabase(): Promise<void> {
    const key = newestKeyId;
    const configured = key === undefined ? [] : config.presignBuckets;
    const warm = await readWarmBuckets(database, network.name, configured, async () => key ?? "");
    showDatabase(await readDatabaseFigures(database, network.name), warm);
    await showDepositAges();
  }

  async function readChain(): Promise<void> {
    const figures = await readChainFigures({ database, network, reader, treasury, laneIds });
    newestKeyId = figures.newestNetworkEncryptionKeyId;
    showChain(figures);
  }

  async function tell(dependency: string, read: () => Promise<void>): Promise<void> {
    try {
      await read();
      up.set({ dependency }, 1);
    } catch (error) {
      up.set({ dependency }, 0);
      throw error;
    }
  }
}

interface ObservationOptions {
  /** The metrics of the network. */
  readonly metrics: MetricsMaker;
  readonly database: Database;
  readonly network: ChainNetwork;
  readonly reader: NetworkReader;
  /** The coins whose prices come from sources. */
  readonly pricedCoins: readonly PricedCoin[];
  readonly config: Pick<
    NetworkConfig,
    "deposits" | "presignBuckets" | "presignLowWaterCount" | "presignHighWaterCount"
  >;
  readonly log: Log;
}

const DATABASE_INTERVAL_MS = 15_000;
const CHAIN_INTERVAL_MS = 30_000;

/**
 * Before the first reading, the age counts from the start of the process. After five minutes without a scrape, the next
 * reading waits for up to a minute, because nobody looks at the figures.
 */
export function createSnapshotLoops({
  metrics,
  clock,
  log,
}: {
  readonly metrics: MetricsMaker;
  readonly clock: Clock;
  readonly log: Log;
}): SnapshotLoops {
  const readAtMs = new Map<string, number>();
  let scrapedAtMs = clock.now();
  metrics.gauge(
    "snapshot_age_seconds",
    "Age of the periodic figures: from the database and the chain.",
    ["snapshot"],
    (gauge) => {
      scrapedAtMs = clock.now();
      for (const [snapshot, atMs] of readAtMs) gauge.set({ snapshot }, (clock.now() - atMs) / 1000);
    },
  );
  return ({ name, intervalMs, read }) => {
    readAtMs.set(name, 0);
    const title = `${name} figures`;
    const loop = createBackgroundLoop({
      name: title,
      intervalMs,
      maxBackoffMs: intervalMs,
      clock,
      log,
      async pass(signal) {
        await read(signal);
        readAtMs.set(name, clock.now());
        const isUnseen = clock.now() - scrapedAtMs > UNSEEN_AFTER_MS;
        return isUnseen && { restMs: Math.max(intervalMs, UNSEEN_REST_MS) };
      },
    });
    return { name: title, loop };
  };
}

/** Longer than any usual interval of scrapes. */
const UNSEEN_AFTER_MS = 300_000;
const UNSEEN_REST_MS = 60_000;

/** Figures that a loop reads, so that a scrape never waits for them. */
interface SnapshotReading {
  readonly name: string;
  /** The time between two readings while the metrics are scraped. */
  readonly intervalMs: number;
  /** Reads the figures and sets the gauges. If it fails, the gauges keep their values. */
  read(signal: AbortSignal): Promise<void>;
}

/** Creates loops that update gauges, and a gauge for the age of each reading. */
type SnapshotLoops = (reading: SnapshotReading) => NamedLoop;
