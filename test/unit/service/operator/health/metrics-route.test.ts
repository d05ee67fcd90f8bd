import { Code, createContextValues } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { Signing } from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import { startProbes } from "../../../../../src/service/app/servers.ts";
import type { Service } from "../../../../../src/service/app/service.ts";
import type { Config } from "../../../../../src/service/config/config.ts";
import { metricsRoute } from "../../../../../src/service/operator/health/health-and-metrics.ts";
import { createMetrics, type Metrics } from "../../../../../src/service/platform/telemetry/metrics.ts";
import { observeCalls } from "../../../../../src/service/platform/telemetry/observe-calls.ts";
import { silentLog } from "../../../../support/silent-log.ts";

let metrics: Metrics | undefined;
afterEach(() => metrics?.close());

const REQUEST = { query: new URLSearchParams(), isDraining: false };

describe("the metrics", () => {
  it("are on the port of the calls for an admin key, or for anyone if the operator says so", async () => {
    const readiness = async () => ({ status: "ready", checks: [] }) as const;
    const probes = async (isMetricsPublic: boolean, processType: Config["processType"]) => {
      metrics?.close();
      metrics = createMetrics();
      const config = {
        host: "127.0.0.1",
        metricsPort: undefined,
        isMetricsPublic,
        processType,
        connections: { maxCount: 0, maxPerAddressCount: 0 },
        trustedProxies: [],
      };
      const found = await startProbes({ config, metrics, log: silentLog } as unknown as Service, readiness);
      return found.map(({ path, isGuarded }) => `${path}${isGuarded === true ? " for admin keys" : ""}`);
    };
    const others = ["/v1/health", "/v1/ready"];
    for (const type of ["api", "all"] as const) {
      expect(await probes(false, type)).toEqual([...others, "/metrics for admin keys"]);
      expect(await probes(true, type)).toEqual([...others, "/metrics"]);
    }
    // A worker checks no keys.
    expect(await probes(false, "worker")).toEqual(others);
    expect(await probes(true, "worker")).toEqual([...others, "/metrics"]);
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
    const observe = observeCalls({ logger: silentLog, metrics });
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
