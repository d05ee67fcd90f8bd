import type { PlainRoute } from "../../../transport/http/plain-routes.ts";
import { type Metrics, wantsOpenMetrics } from "../../platform/telemetry/metrics.ts";
import { BUILD_INFO, type BuildInfo } from "./build-info.ts";

/** `GET /v1/health`: 200 while the process lives. */
export function healthRoute({ version, commit }: BuildInfo = BUILD_INFO): PlainRoute {
  return {
    path: "/v1/health",
    handle: ({ isDraining }) => ({
      status: 200,
      headers: { "content-type": "application/json", "cache-control": "no-store" },
      body: JSON.stringify({
        status: isDraining ? "draining" : "ok",
        version,
        commit,
        uptimeSeconds: Math.floor(process.uptime()),
      }),
    }),
  };
}

/** How long a rendering is reused, because rendering blocks the event loop for milliseconds. */
const FRESH_MS = 1_000;

/**
 * `GET /metrics` in Prometheus' text format, or in OpenMetrics if there are exemplars. Each format is rendered at most
 * once a second. `now` is a monotonic time in milliseconds.
 */
export function metricsRoute(
  metrics: Pick<Metrics, "render" | "gauge">,
  now: () => number = () => performance.now(),
  { version, commit = "" }: BuildInfo = BUILD_INFO,
): PlainRoute {
  metrics
    .gauge("build_info", "The running version and its git commit; always 1.", ["version", "commit"])
    .set({ version, commit }, 1);
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
      return { status: 200, headers: { "content-type": contentType, "cache-control": "no-store" }, body };
    },
  };
}
