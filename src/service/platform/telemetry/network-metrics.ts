import type { CounterOf, GaugeOf, HistogramOf, Metrics } from "./metrics.ts";

/**
 * Creates a function that returns the metrics of one network. The networks share each metric, with the label `network`.
 * A network that registers a metric again continues its series.
 */
export function createNetworkMetrics(metrics: MetricsMaker): (network: string) => MetricsMaker {
  const made = new Map<string, Shared>();
  const once = <M extends Shared>(name: string, make: () => M): M => {
    const known = made.get(name) ?? make();
    made.set(name, known);
    return known as M;
  };
  return (network) => ({
    counter(name, help, labels = []) {
      const { metric } = once(name, () => ({ metric: metrics.counter(name, help, withNetwork(labels)) }));
      const own = counterOf(metric as CounterOf<string>, network);
      if (labels.length === 0) own.inc(0);
      return own;
    },
    gauge(name, help, labels = [], collect) {
      const shared = once(name, () => {
        const collectors = new Map<string, () => void | Promise<void>>();
        const collectAll = async () => {
          for (const one of collectors.values()) await one();
        };
        return { collectors, metric: metrics.gauge(name, help, withNetwork(labels), collectAll) };
      });
      const own = gaugeOf(shared.metric as GaugeOf<string>, network);
      if (labels.length === 0) own.set(0);
      if (collect !== undefined) shared.collectors.set(network, () => collect(own));
      return own;
    },
    histogram(name, help, labels, buckets) {
      const { metric } = once(name, () => ({
        metric: metrics.histogram(name, help, withNetwork(labels), buckets),
      }));
      const own = histogramOf(metric as HistogramOf<string>, network);
      if (labels.length === 0) own.zero({});
      return own;
    },
  });
}

/** Creates metrics, of the process or of one network. */
export type MetricsMaker = Pick<Metrics, "counter" | "gauge" | "histogram">;

type Shared = {
  readonly metric: unknown;
  /** The functions that update a gauge before a scrape, by network. */
  readonly collectors?: Map<string, () => void | Promise<void>>;
};

type Labels = Partial<Record<string, string | number>>;

const withNetwork = (labels: readonly string[]): readonly string[] => [...labels, "network"];

/** Splits the arguments of a metric: labels and a value, or a value alone. */
function split(
  given: Labels | number | undefined,
  value?: number,
): [labels: Labels, value: number | undefined] {
  return typeof given === "object" ? [given, value] : [{}, given];
}

function counterOf(metric: CounterOf<string>, network: string): CounterOf<string> {
  return {
    inc(given?: Labels | number, by?: number) {
      const [labels, value] = split(given, by);
      metric.inc({ ...labels, network }, value ?? 1);
    },
  };
}

function histogramOf(metric: HistogramOf<string>, network: string): HistogramOf<string> {
  return {
    observe(given: Labels | number, observed?: number) {
      const [labels, value] = split(given, observed);
      metric.observe({ ...labels, network }, value ?? 0);
    },
    zero: (labels) => metric.zero({ ...labels, network }),
  };
}

function gaugeOf(metric: GaugeOf<string>, network: string): GaugeOf<string> {
  /** The series of this network, so that a reset keeps those of other networks. */
  const own = new Map<string, Labels>();
  const remember = (labels: Labels): Labels => {
    own.set(JSON.stringify(labels), labels);
    return { ...labels, network };
  };
  return {
    set(given: Labels | number, to?: number) {
      const [labels, value] = split(given, to);
      metric.set(remember(labels), value ?? 0);
    },
    inc(given?: Labels | number, by?: number) {
      const [labels, value] = split(given, by);
      metric.inc(remember(labels), value ?? 1);
    },
    remove: (labels = {}) => metric.remove({ ...labels, network }),
    reset() {
      for (const labels of own.values()) metric.remove({ ...labels, network });
      own.clear();
    },
  };
}
