import type { Deposits } from "../../../src/service/billing/deposits/deposits.ts";
import { createCheckpointFollower } from "../../../src/service/billing/deposits/follow-checkpoints.ts";
import { createDepositWatcher } from "../../../src/service/billing/deposits/watch-deposits.ts";
import type { CheckpointReader } from "../../../src/service/chain/checkpoint-reader.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { silentLog } from "../silent-log.ts";

/** A replica that watches deposits by scans and by checkpoints. */
export interface DepositWatch {
  /** The warnings of the follower. */
  readonly warnings: string[];
  /** Resolves when it follows, or starts to follow again. */
  following(): Promise<void>;
  /** Resolves when the project has been credited since the last call. */
  credited(projectId: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a replica that scans due addresses and follows checkpoints. */
export function watchDeposits(deposits: Deposits, reader: CheckpointReader, pollMs = 20): DepositWatch {
  const follows = createEvents();
  const credits = createEvents();
  const warnings: string[] = [];
  const signals = createLocalSignals();
  const watcher = createDepositWatcher(deposits, {
    pollMs,
    signals,
    clock: systemClock,
    log: { ...silentLog, info: ({ projectId }: { projectId?: string }) => credits.tell(projectId!) },
  });
  const follower = createCheckpointFollower(deposits, {
    reader,
    pollMs,
    signals,
    clock: systemClock,
    log: {
      ...silentLog,
      info: () => follows.tell("follows"),
      warn: (_: object, message: string) => warnings.push(message),
    },
  });
  for (const loop of [watcher, follower]) loop.start();
  return {
    warnings,
    following: () => follows.next("follows"),
    credited: (projectId) => credits.next(projectId),
    async stop() {
      await Promise.all([watcher.stop(), follower.stop()]);
    },
  };
}

/** Makes every address quiet: its next scan is a day away. */
export async function quietAddresses(database: Database): Promise<void> {
  await database.query(
    "UPDATE deposit_address SET wanted_at = now() - interval '1 day', due_at = now() + interval '1 day'",
    [],
  );
}

/** Named events. Each is delivered once, even if it occurs before anyone waits for it. */
function createEvents() {
  const untold = new Map<string, number>();
  const waiting = new Map<string, () => void>();
  return {
    tell(name: string): void {
      const resolve = waiting.get(name);
      if (resolve === undefined) untold.set(name, (untold.get(name) ?? 0) + 1);
      waiting.delete(name);
      resolve?.();
    },
    next: (name: string) =>
      new Promise<void>((resolve) => {
        const count = untold.get(name) ?? 0;
        if (count === 0) waiting.set(name, resolve);
        else {
          untold.set(name, count - 1);
          resolve();
        }
      }),
  };
}
