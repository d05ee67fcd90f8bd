import { RETAINED_KINDS, type RetainedKind } from "../signing/retention-loop.ts";
import type { Metrics } from "../telemetry/metrics.ts";

/** Registers the metrics of what all networks share, with all their labels. */
export function createSharedMetrics(metrics: Pick<Metrics, "counter">): SharedMetrics {
  const cache = metrics.counter("cache_requests_total", "Lookups in this process's caches.", [
    "cache",
    "result",
  ]);
  for (const result of ["hit", "miss"]) cache.inc({ cache: "api_key", result }, 0);

  const retained = metrics.counter(
    "retention_rows_total",
    "Old rows that were cleaned up: users' halves and stored transactions emptied, expired reservations deleted.",
    ["what"],
  );
  for (const what of RETAINED_KINDS) retained.inc({ what }, 0);

  return {
    onRetained: (what, count) => retained.inc({ what }, count),
    onCache: (name, result) => cache.inc({ cache: name, result }),
  };
}

/** Counts events of the parts that all networks share. */
export interface SharedMetrics {
  /** Counts old rows that retention emptied or deleted. */
  onRetained(what: RetainedKind, count: number): void;
  /** Counts look-ups in a cache. */
  onCache(cache: "api_key", result: "hit" | "miss"): void;
}
