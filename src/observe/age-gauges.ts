import type { Metrics } from "../telemetry/metrics.ts";

/** Registers a gauge for each, and returns what reads them anew. One that nobody tells has no value. */
export function createAgeGauges(metrics: Pick<Metrics, "gauge">, ages: Ages = {}): () => Promise<void> {
  const price = metrics.gauge("price_age_seconds", "Age of the price for crediting deposits.");
  const unsealed = metrics.gauge(
    "audit_unsealed_age_seconds",
    "Age of the oldest unsealed audit event; 0 without one.",
  );
  for (const gauge of [price, unsealed]) gauge.remove();
  return async () => {
    for (const [gauge, seconds] of [
      [price, await ages.price?.()],
      [unsealed, await ages.auditUnsealed?.()],
    ] as const) {
      if (seconds === undefined) gauge.remove();
      else gauge.set(seconds);
    }
  };
}

/** Ages in seconds that other parts know; undefined while there is nothing that could be old. */
export interface Ages {
  /** Of the price that deposits are credited at. */
  price?(): Promise<number | undefined>;
  /** Of the oldest audit event that is in no seal. */
  auditUnsealed?(): Promise<number | undefined>;
}
