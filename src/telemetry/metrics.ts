import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type LabelValues,
  Registry,
  type RegistryContentType,
} from "prom-client";
import { plainTwin, wantsOpenMetrics } from "./openmetrics.ts";

/** Gauges among the process's default metrics whose names say that they are counters; each has a twin by type. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

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
  /** A histogram that keeps an example of each bucket, where exemplars are on. */
  exemplified<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): ExemplifiedHistogram<L>;
  /**
   * All metrics in Prometheus' text format, or in OpenMetrics' where exemplars are on and the scraper takes it.
   * @param accept the scraper's header
   */
  render(accept?: string): Promise<{ contentType: string; body: string }>;
  /** Ends the collection of the process's own metrics. */
  close(): void;
}

/** A distribution whose observations may name an example. */
export interface ExemplifiedHistogram<L extends string> {
  /** @param exemplar labels of the example, such as its trace id; 128 characters at most together */
  observe(labels: LabelValues<L>, value: number, exemplar?: Readonly<Record<string, string>>): void;
}

/** How the metrics are kept. */
export interface MetricsOptions {
  /** Whether histograms keep exemplars, which only OpenMetrics can say. Default false. */
  readonly exemplars?: boolean;
}

/** A registry of its own with the process's default metrics (memory, event-loop lag, garbage collection). */
export function createMetrics({ exemplars = false }: MetricsOptions = {}): Metrics {
  const register = new Registry<RegistryContentType>();
  if (exemplars) register.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers = [register];
  collectDefaultMetrics({ register, prefix: METRICS_PREFIX });
  for (const name of MISNAMED) register.removeSingleMetric(METRICS_PREFIX + name);
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
    exemplified(name, help, labels, buckets) {
      const common = { name: METRICS_PREFIX + name, help, labelNames: [...labels], buckets: [...buckets] };
      const histogram = new Histogram({ ...common, registers, enableExemplars: exemplars });
      return {
        observe(of, value, exemplar = {}) {
          if (exemplars)
            histogram.observe({ labels: of, value, exemplarLabels: { ...exemplar } as LabelValues<string> });
          else histogram.observe(of, value);
        },
      };
    },
    async render(accept) {
      const shown = exemplars && !wantsOpenMetrics(accept) ? plainTwin(register) : register;
      return { contentType: shown.contentType, body: await shown.metrics() };
    },
    close: () => register.clear(),
  };
}
