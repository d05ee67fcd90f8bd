import type { Database } from "../../platform/store/database.ts";
import type { Metrics } from "../../platform/telemetry/metrics.ts";

/**
 * Registers the gauges, and returns a function that adds a pool under a name. A second pool of the same name replaces the
 * first.
 */
export function createPoolGauges(metrics: Pick<Metrics, "gauge">): PoolGauges {
  const pools = new Map<string, Database>();
  metrics.gauge(
    "database_connections",
    "Connections of this process, and callers that are waiting for one.",
    ["pool", "state"],
    (gauge) => {
      for (const [pool, database] of pools) {
        const { busyCount, idleCount, waitingCount } = database.connections();
        gauge.set({ pool, state: "busy" }, busyCount);
        gauge.set({ pool, state: "idle" }, idleCount);
        gauge.set({ pool, state: "waiting" }, waitingCount);
      }
    },
  );
  const maximum = metrics.gauge("database_connections_max", "Maximum number of connections.", ["pool"]);
  return (pool, database) => {
    pools.set(pool, database);
    maximum.set({ pool }, database.connections().maxCount);
  };
}

/** Adds a pool, named `shared` or after its network. */
export type PoolGauges = (pool: string, database: Database) => void;
