import { Counter, Registry, type RegistryContentType } from "prom-client";

/** True if a scraper accepts OpenMetrics text, as Prometheus does when it wants exemplars. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  return accept?.includes("application/openmetrics-text") === true;
}

/**
 * A registry that renders the same metrics in the plain format. When prom-client renders OpenMetrics, it cuts `_total`
 * off a counter's name, because that format adds it to each sample. So this registry has its own names.
 */
export function plainTwin(register: Registry<RegistryContentType>): Registry {
  const twin = new Registry();
  for (const metric of register.getMetricsAsArray()) {
    const isCut = metric instanceof Counter && !metric.name.endsWith("_total");
    const name = isCut ? `${metric.name}_total` : metric.name;
    twin.registerMetric(Object.create(metric, { name: { value: name } }));
  }
  return twin;
}
