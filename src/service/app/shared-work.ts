import type { Config } from "../config/config.ts";
import type { SharedMetrics } from "../operator/metrics/shared-figures.ts";
import type { Signals } from "../platform/coordination/signals.ts";
import type { Clock } from "../platform/lifecycle/clock.ts";
import type { NamedLoop } from "../platform/lifecycle/start-loops.ts";
import type { Queryable } from "../platform/store/database.ts";
import type { Log } from "../platform/telemetry/logger.ts";
import { createExpireLoop } from "../signing/expire-loop.ts";
import { createRetentionLoop } from "../signing/retention-loop.ts";
import type { SignObserver } from "../signing/sign-operation.ts";
import { createSessionSweep } from "../users/session-sweep.ts";

/**
 * Creates the loops of a worker that need no chain. They also process rows of networks that are no longer served,
 * because an expired reservation must return its credit there too.
 */
export function createSharedWork(options: SharedWorkOptions): NamedLoop[] {
  const { database, signals, retentionDays, clock, log, pace = {} } = options;
  const { observerOf, observe } = options;
  const expiry = createExpireLoop({ database, signals, clock, log, observerOf, ...pace });
  const onRetained = observe?.onRetained;
  const retention = createRetentionLoop({ ...pace, database, retentionDays, clock, log, onRetained });
  return [
    { name: "expiry", loop: expiry },
    { name: "retention", loop: retention },
    { name: "sessions", loop: createSessionSweep({ database, clock, log, ...pace }) },
  ];
}

interface SharedWorkOptions extends Pick<Config, "retentionDays"> {
  readonly database: Queryable;
  readonly signals: Signals;
  readonly clock: Clock;
  readonly log: Log;
  readonly observe?: Pick<SharedMetrics, "onRetained">;
  /** Returns the observer of a network; undefined for one that is not open here. */
  readonly observerOf?: (network: string) => SignObserver | undefined;
  /** For tests: a shorter interval. */
  readonly pace?: { readonly intervalMs: number };
}
