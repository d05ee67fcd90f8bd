import type { Signals } from "../../coordination/signals.ts";
import { topics } from "../../coordination/topics.ts";
import { type BackgroundLoop, createBackgroundLoop } from "../../lifecycle/background-loop.ts";
import type { Clock } from "../../lifecycle/clock.ts";
import type { CoinReader } from "./inspect-coins.ts";
import { type QueueSweepsOptions, queueSweeps } from "./queue-sweeps.ts";
import { releaseCoins } from "./release-coins.ts";
import { MAX_COIN_COUNT } from "./unswept-coins.ts";

/** Creates a loop that queues sweeps of credited coins, and frees the coins of refused sweeps. */
export function createSweepLoop(options: SweepLoopOptions): BackgroundLoop {
  const { destination, signals, network, intervalMs, clock, log } = options;
  return createBackgroundLoop({ name: "sweeps", intervalMs, clock, log, pass });

  async function pass(): Promise<false> {
    await releaseCoins(options);
    if (destination === undefined) return false;
    const queuedCount = await queueSweeps({ ...options, destination, maxCoinCount: MAX_COIN_COUNT });
    if (queuedCount > 0) signals.notify(topics.outbox(network));
    return false;
  }
}

export interface SweepLoopOptions extends Omit<QueueSweepsOptions, "destination" | "maxCoinCount"> {
  /** Undefined: the loop queues no new sweeps. */
  readonly destination: string | undefined;
  readonly reader: CoinReader;
  readonly signals: Pick<Signals, "notify">;
  /** The interval between checks of the credited coins. */
  readonly intervalMs: number;
  readonly clock: Clock;
}
