import type { Metrics } from "../telemetry/metrics.ts";

/** Registers a gauge for each age, and returns a function that reads them. An age without a reader has no value. */
export function createAgeGauges(metrics: Pick<Metrics, "gauge">, ages: Ages = {}): () => Promise<void> {
  const price = metrics.gauge("price_age_seconds", "Age of the price for crediting deposits.");
  const unsealed = metrics.gauge(
    "audit_unsealed_age_seconds",
    "Age of the oldest unsealed audit event; 0 without one.",
  );
  const checkpoints = metrics.gauge(
    "deposit_checkpoints_age_seconds",
    "Time since every checkpoint had been read for deposits; no value if they never had.",
  );
  for (const gauge of [price, unsealed, checkpoints]) gauge.remove();
  return async () => {
    for (const [gauge, seconds] of [
      [price, await ages.price?.()],
      [unsealed, await ages.auditUnsealed?.()],
      [checkpoints, await ages.depositCheckpoints?.()],
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
  /** The time since every checkpoint had been read for deposits. */
  depositCheckpoints?(): Promise<number | undefined>;
}
