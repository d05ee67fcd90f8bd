import { Code, createContextValues } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { startProbes } from "../../../src/app/probe-routes.ts";
import { metricsRoute } from "../../../src/health/health-and-metrics.ts";
import { createMetrics, type Metrics } from "../../../src/telemetry/metrics.ts";
import { observeCalls } from "../../../src/telemetry/observe-calls.ts";
import { silentLog } from "../../support/database.ts";

let metrics: Metrics | undefined;
afterEach(() => metrics?.close());

const REQUEST = { query: new URLSearchParams(), isDraining: false };

describe("the metrics", () => {
  it("are on the callers' port only if the operator configures it", async () => {
    metrics = createMetrics();
    const options = { readiness: async () => ({ status: "ready", checks: [] }) as const, metrics };
    const probes = (isMetricsPublic: boolean) =>
      startProbes({
        ...options,
        config: {
          host: "127.0.0.1",
          metricsPort: undefined,
          isMetricsPublic,
          connections: { maxCount: 0, maxPerAddressCount: 0 },
          trustedProxies: [],
        },
        lifecycle: undefined as never,
        log: silentLog as never,
      });
    expect((await probes(false)).map(({ path }) => path)).toEqual(["/v1/health", "/v1/ready"]);
    expect((await probes(true)).map(({ path }) => path)).toContain("/metrics");
  });

  it("are rendered once a second in each format, however often they are read", async () => {
    const real = createMetrics();
    metrics = real;
    let [nowMs, count] = [0, 0];
    const counted = {
      gauge: real.gauge,
      render(accept?: string) {
        count++;
        return real.render(accept);
      },
    };
    const route = metricsRoute(counted, () => nowMs);
    const ask = async (accept: string) => route.handle({ ...REQUEST, headers: { accept } });
    await Promise.all(Array.from({ length: 50 }, () => ask("text/plain")));
    expect(count).toBe(1);
    await Promise.all(Array.from({ length: 50 }, () => ask("application/openmetrics-text")));
    expect(count).toBe(2);
    nowMs += 999;
    await ask("text/plain");
    expect(count).toBe(2);
    nowMs += 1;
    await ask("text/plain");
    expect(count).toBe(3);
  });

  it("have one series for all refusals of a kind, whichever method is called", async () => {
    metrics = createMetrics();
    const observe = observeCalls({ logger: { info() {} }, metrics });
    const codes = Object.values(Code).filter((code) => typeof code === "number");
    for (const { name } of Object.values(Signing.method))
      for (const protocol of ["grpc", "grpc-web", "connect", "rest"])
        for (const code of [undefined, ...codes])
          observe({
            method: `tss.v1.Signing/${name}`,
            protocol,
            code,
            durationMs: 1,
            requestId: "r",
            values: createContextValues(),
          });
    const { body } = await metrics.render();
    const series = [...body.matchAll(/^service_request_duration_seconds_count\{(.*)\}/gm)];
    // For each method: success, the five kinds of failure that the caller did not cause, and eleven refusals.
    expect(series).toHaveLength(Object.keys(Signing.method).length * 6 + 11);
    expect(series.map(([, labels]) => labels)).toContain(
      'method="refused",code="unauthenticated",network=""',
    );
  });
});
