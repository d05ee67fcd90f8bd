import { createTreasuryReader } from "../chain/treasury/treasury-reader.ts";
import type { BackgroundLoop } from "../lifecycle/background-loop.ts";
import { type Affordable, createAffordable } from "../presigns/affordable.ts";
import { readWarmBuckets } from "../presigns/read-buckets.ts";
import { createRefillLoop, type RefillLoopDeps } from "../presigns/refill-loop.ts";
import type { ChainWorkOptions } from "./chain-work.ts";

/**
 * Creates a worker's refill, which keeps warm buckets at their target and fills buckets that callers of this process
 * wait for.
 */
export function createWarmRefill(options: PresignRefillOptions, affordable: Affordable): BackgroundLoop {
  const { database, network, reader, config } = options;
  const newestKeyId = async () => (await reader.networkKey()).id;
  const warmBuckets = () => readWarmBuckets(database, network.name, config.presignBuckets, newestKeyId);
  return createRefill(options, { warmBuckets, affordable });
}

export type PresignRefillOptions = Pick<
  ChainWorkOptions,
  "database" | "network" | "reader" | "signals" | "presigns" | "config" | "log" | "pace"
>;

/**
 * Creates an api process's refill, which queues presigns for callers that wait in this process. A worker submits them.
 */
export function createCallersRefill(options: PresignRefillOptions): BackgroundLoop {
  const affordable = createAffordable(createTreasuryReader(options.network), options.network.clock);
  return createRefill(options, { warmBuckets: async () => [], affordable });
}

function createRefill(
  { database, network, reader, signals, presigns, config, log, pace }: PresignRefillOptions,
  more: Pick<RefillLoopDeps, "warmBuckets" | "affordable">,
): BackgroundLoop {
  return createRefillLoop({
    database,
    signals,
    queue: presigns,
    network: network.name,
    sessionBuffer: () => reader.sessionBuffer(),
    clock: network.clock,
    bounds: { lowWaterCount: config.presignLowWaterCount, highWaterCount: config.presignHighWaterCount },
    log,
    ...pace,
    ...more,
  });
}
