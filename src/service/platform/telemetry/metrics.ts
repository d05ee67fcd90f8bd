import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type LabelValues,
  Registry,
  type RegistryContentType,
} from "prom-client";

/** Creates a registry with the process's default metrics (memory, event-loop lag, garbage collection). */
export function createMetrics({ exemplars = false }: MetricsOptions = {}): Metrics {
  const register = new Registry<RegistryContentType>();
  if (exemplars) register.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers = [register];
  collectDefaultMetrics({
    register,
    prefix: METRICS_PREFIX,
    eventLoopMonitoringPrecision: LAG_PRECISION_MS,
  });
  for (const name of MISNAMED) register.removeSingleMetric(METRICS_PREFIX + name);
  return {
    counter: (name, help, labels = []) =>
      new Counter({ name: METRICS_PREFIX + name, help, labelNames: [...labels], registers }),
    gauge: <L extends string>(
      name: string,
      help: string,
      labels: readonly L[] = [],
      collect?: (gauge: GaugeOf<L>) => void | Promise<void>,
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

/** Default gauges that have the name of a counter. Each has a variant by type. */
const MISNAMED = [
  "nodejs_active_handles_total",
  "nodejs_active_requests_total",
  "nodejs_active_resources_total",
];

/** The prefix of all metrics of the service. */
const METRICS_PREFIX = "service_";
/** The interval of the timer that measures the event loop's lag. An idle process wakes for nothing else so often. */
const LAG_PRECISION_MS = 50;

/** A counter. */
export interface CounterOf<L extends string> {
  inc(labels: LabelValues<L>, by?: number): void;
  inc(by?: number): void;
}

/** A gauge. */
export interface GaugeOf<L extends string> {
  set(labels: LabelValues<L>, value: number): void;
  set(value: number): void;
  inc(labels: LabelValues<L>, by?: number): void;
  inc(by?: number): void;
  /** Removes the series of these labels. Default: the one without labels. */
  remove(labels?: LabelValues<L>): void;
  /** Removes all series. */
  reset(): void;
}

/** A histogram. */
export interface HistogramOf<L extends string> {
  observe(labels: LabelValues<L>, value: number): void;
  observe(value: number): void;
  /** Creates the series of these labels before their first observation. */
  zero(labels: LabelValues<L>): void;
}

/** Creates metrics with fixed label names. Label values must be bounded: states and kinds, never ids. */
export interface Metrics {
  /** Creates a counter. `name` has no prefix and ends in `_total`. */
  counter<L extends string>(name: string, help: string, labels?: readonly L[]): CounterOf<L>;
  /**
   * Creates a gauge.
   * @param collect updates the value before each scrape
   */
  gauge<L extends string>(
    name: string,
    help: string,
    labels?: readonly L[],
    collect?: (gauge: GaugeOf<L>) => void | Promise<void>,
  ): GaugeOf<L>;
  /** Creates a histogram. Buckets are upper bounds, in the unit at the end of the name. */
  histogram<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): HistogramOf<L>;
  /** Creates a histogram that keeps an exemplar per bucket if exemplars are on. */
  exemplified<L extends string>(
    name: string,
    help: string,
    labels: readonly L[],
    buckets: readonly number[],
  ): ExemplifiedHistogram<L>;
  /**
   * Renders all metrics in Prometheus' text format, or in OpenMetrics if exemplars are on and the scraper accepts it.
   * @param accept the scraper's `accept` header
   */
  render(accept?: string): Promise<{ contentType: string; body: string }>;
  /** Stops collecting the default metrics of the process. */
  close(): void;
}

/** A histogram whose observations can have an exemplar. */
interface ExemplifiedHistogram<L extends string> {
  /** @param exemplar labels of the exemplar, such as its trace id; at most 128 characters in total */
  observe(labels: LabelValues<L>, value: number, exemplar?: Readonly<Record<string, string>>): void;
}

/** Options of {@link createMetrics}. */
interface MetricsOptions {
  /** Enables exemplars of histograms, which only OpenMetrics can express. Default false. */
  readonly exemplars?: boolean;
}

/** True if a scraper accepts OpenMetrics text, as Prometheus does when it wants exemplars. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  return accept?.includes("application/openmetrics-text") === true;
}

/**
 * A registry that renders the same metrics in the plain format. When prom-client renders OpenMetrics, it cuts `_total`
 * off a counter's name, because that format adds it to each sample. So this registry has its own names.
 */
function plainTwin(register: Registry<RegistryContentType>): Registry {
  const twin = new Registry();
  for (const metric of register.getMetricsAsArray()) {
    const isCut = metric instanceof Counter && !metric.name.endsWith("_total");
    const name = isCut ? `${metric.name}_total` : metric.name;
    twin.registerMetric(Object.create(metric, { name: { value: name } }));
  }
  return twin;
}
