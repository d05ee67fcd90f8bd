import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from "prom-client";

/** Every metric of the service begins with this. */
export const METRICS_PREFIX = "service_";

/** A counter or gauge with its labels fixed by name. Labels must be bounded: states and kinds, never ids. */
export interface Metrics {
  /** A value that only grows. `name` comes without the prefix and ends in `_total`. */
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): Counter<L>;
  /**
   * A value that goes up and down.
   * @param collect reads the value anew before each scrape
   */
  gauge<L extends string>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (gauge: Gauge<L>) => void | Promise<void>,
  ): Gauge<L>;
  /** A distribution; buckets are upper bounds in the unit that the name ends in. */
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): Histogram<L>;
  /** All metrics in Prometheus' text format. */
  render(): Promise<{ contentType: string; body: string }>;
  /** Ends the collection of the process's own metrics. */
  close(): void;
}

/** A registry of its own with the process's default metrics (memory, event-loop lag, garbage collection). */
export function createMetrics(): Metrics {
  const register = new Registry();
  const registers = [register];
  collectDefaultMetrics({ register, prefix: METRICS_PREFIX });
  return {
    counter: (name, help, labels = []) =>
      new Counter({ name: METRICS_PREFIX + name, help, labelNames: [...labels], registers }),
    gauge: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      collect?: (gauge: Gauge<L>) => void | Promise<void>,
    ) =>
      new Gauge<L>({
        name: METRICS_PREFIX + name,
        help,
        labelNames: [...labels],
        registers,
        ...(collect === undefined
          ? {}
          : {
              collect() {
                return collect(this);
              },
            }),
      }),
    histogram: (name, help, labels, buckets) =>
      new Histogram({
        name: METRICS_PREFIX + name,
        help,
        labelNames: [...labels],
        buckets: [...buckets],
        registers,
      }),
    render: async () => ({ contentType: register.contentType, body: await register.metrics() }),
    close: () => register.clear(),
  };
}
