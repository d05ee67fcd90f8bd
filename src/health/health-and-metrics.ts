import { createRequire } from "node:module";
import type { Metrics } from "../telemetry/metrics.ts";
import { wantsOpenMetrics } from "../telemetry/openmetrics.ts";
import type { PlainRoute } from "../transport/plain-routes.ts";

const { version } = createRequire(import.meta.url)("threshold-signing-service/package.json") as {
  version: string;
};

/** `GET /v1/health`: 200 while the process lives. */
export function healthRoute(): PlainRoute {
  return {
    path: "/v1/health",
    handle: ({ isDraining }) => ({
      status: 200,
      headers: { "content-type": "application/json", "cache-control": "no-store" },
      body: JSON.stringify({
        status: isDraining ? "draining" : "ok",
        version,
        uptimeSeconds: Math.floor(process.uptime()),
      }),
    }),
  };
}

/** For so long a rendering stands, however often it is asked for: rendering takes milliseconds of the event loop. */
const FRESH_MS = 1_000;

/**
 * `GET /metrics` in Prometheus' text format, or OpenMetrics where there are exemplars to show; rendered once a second
 * at most in each format. `now` is in milliseconds that only grow.
 */
export function metricsRoute(
  metrics: Pick<Metrics, "render" | "gauge">,
  now: () => number = () => performance.now(),
): PlainRoute {
  metrics.gauge("build_info", "The running version; always 1.", ["version"]).set({ version }, 1);
  const rendered = new Map<
    boolean,
    { readonly atMs: number; readonly text: ReturnType<Metrics["render"]> }
  >();
  const render = (accept: string | undefined) => {
    const format = wantsOpenMetrics(accept);
    const last = rendered.get(format);
    if (last !== undefined && now() - last.atMs < FRESH_MS) return last.text;
    const text = metrics.render(accept);
    rendered.set(format, { atMs: now(), text });
    return text;
  };
  return {
    path: "/metrics",
    async handle({ headers }) {
      const { contentType, body } = await render(headers.accept);
      return { status: 200, headers: { "content-type": contentType }, body };
    },
  };
}
