import type { Metrics } from "../telemetry/metrics.ts";

/** Registers a gauge for each age, and returns a function that reads them. An age without a reader has no value. */
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

/** Ages in seconds. Undefined if there is nothing to age. */
export interface Ages {
  /** The age of the price for crediting deposits. */
  price?(): Promise<number | undefined>;
  /** The age of the oldest unsealed audit event. */
  auditUnsealed?(): Promise<number | undefined>;
}
