import { Counter, Registry, type RegistryContentType } from "prom-client";

/** Whether a scraper takes OpenMetrics text, as Prometheus says when it wants exemplars. */
export function wantsOpenMetrics(accept: string | undefined): boolean {
  return accept?.includes("application/openmetrics-text") === true;
}

/**
 * A registry that shows the same metrics in the plain format. prom-client cuts `_total` off a counter's own name when
 * it shows OpenMetrics, where the format adds it to each sample; so the twin has names of its own.
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
