import { once } from "node:events";
import { Code, createContextKey, createContextValues } from "@connectrpc/connect";
import { afterEach, describe, expect, it } from "vitest";
import { startLoopMonitor } from "../../../../../src/service/platform/telemetry/loop-monitor.ts";
import { createMetrics, type Metrics } from "../../../../../src/service/platform/telemetry/metrics.ts";
import { observeCalls } from "../../../../../src/service/platform/telemetry/observe-calls.ts";
import { silentLog } from "../../../../support/silent-log.ts";

let metrics: Metrics;
afterEach(() => metrics.close());

async function value(name: string): Promise<string | undefined> {
  const { body } = await metrics.render();
  return body
    .split("\n")
    .find((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`))
    ?.split(" ")
    .at(-1);
}

describe("the metrics", () => {
  it("all have the service's prefix, including the process's own", async () => {
    metrics = createMetrics();
    metrics.counter("signs_total", "Signs.").inc();
    const { body, contentType } = await metrics.render();
    const names = body.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
    expect(names.filter((line) => !line.startsWith("service_"))).toEqual([]);
    expect(body).toContain("service_nodejs_eventloop_lag_seconds");
    expect(contentType).toContain("text/plain");
    expect(await value("service_signs_total")).toBe("1");
  });

  it("read gauges again for each scrape", async () => {
    metrics = createMetrics();
    let ready = 3;
    metrics.gauge("presigns", "Presigns.", ["state"], (gauge) => gauge.set({ state: "ready" }, ready));
    expect(await value("service_presigns")).toBe("3");
    ready = 4;
    expect(await value("service_presigns")).toBe("4");
  });
});

describe("exemplars", () => {
  const observed = async (exemplars: boolean, accept?: string) => {
    metrics = createMetrics({ exemplars });
    metrics.counter("signs_total", "Signs.").inc(2);
    const histogram = metrics.exemplified("wait_seconds", "Waits.", ["kind"], [1, 5]);
    histogram.observe({ kind: "a" }, 2, { trace_id: "t1" });
    histogram.observe({ kind: "a" }, 0.5);
    // A scrape in one format must not change the next one in the other format.
    await metrics.render("application/openmetrics-text");
    return metrics.render(accept);
  };

  it("are shown in OpenMetrics to scrapers that accept it", async () => {
    const { contentType, body } = await observed(
      true,
      "application/openmetrics-text;version=1.0.0,text/plain;q=0.5",
    );
    expect(contentType).toContain("application/openmetrics-text");
    expect(body).toMatch(/service_wait_seconds_bucket\{.*le="5".*\} 2 # \{trace_id="t1"\} 2 /);
    expect(body).toContain("service_signs_total 2");
    expect(body.endsWith("# EOF\n")).toBe(true);
  });

  it("are left out of the plain format", async () => {
    const stable = (body: string) => body.split("\n").filter((line) => /signs|wait_/.test(line));
    const withThem = await observed(true, "text/plain");
    metrics.close();
    const without = await observed(false, "application/openmetrics-text");
    expect(withThem.contentType).toContain("text/plain");
    expect(withThem.contentType).toBe(without.contentType);
    expect(stable(withThem.body)).toEqual(stable(without.body));
    expect(withThem.body).not.toContain("trace_id");
  });
});

describe("a finished call", () => {
  it("is one log line and one observation, with the caller's project", async () => {
    metrics = createMetrics();
    const projectKey = createContextKey("");
    const lines: unknown[] = [];
    const observe = observeCalls({
      metrics,
      logger: { info: (fields: unknown) => lines.push(fields) } as never,
      describe: (values) => ({ projectId: values.get(projectKey) }),
    });
    const values = createContextValues().set(projectKey, "p1");
    const call = {
      method: "tss.v1.Signing/GetSign",
      protocol: "grpc",
      durationMs: 12.34,
      requestId: "r",
      values,
    };
    observe({ ...call, code: undefined });
    observe({ ...call, code: Code.ResourceExhausted });
    expect(lines).toMatchObject([
      {
        method: "tss.v1.Signing/GetSign",
        protocol: "grpc",
        code: "ok",
        durationMs: 12.3,
        requestId: "r",
        projectId: "p1",
      },
      { code: "resource_exhausted" },
    ]);
    const { body } = await metrics.render();
    expect(body).toContain(
      'service_request_duration_seconds_count{method="tss.v1.Signing/GetSign",code="ok",network=""} 1',
    );
  });

  it("is counted for the network that it belongs to", async () => {
    metrics = createMetrics();
    const networkKey = createContextKey("");
    const observe = observeCalls({
      metrics,
      logger: silentLog,
      describe: (values) => ({ network: values.get(networkKey) }),
    });
    const method = "tss.v1.Signing/GetSign";
    for (const [network, code] of [
      ["testnet"],
      ["mainnet"],
      ["mainnet"],
      ["testnet", Code.NotFound],
    ] as const)
      observe({
        method,
        protocol: "grpc",
        code,
        durationMs: 1,
        requestId: "r",
        values: createContextValues().set(networkKey, network),
      });
    const { body } = await metrics.render();
    expect(body.match(/^service_request_duration_seconds_count.*/gm)).toEqual([
      'service_request_duration_seconds_count{method="tss.v1.Signing/GetSign",code="ok",network="testnet"} 1',
      'service_request_duration_seconds_count{method="tss.v1.Signing/GetSign",code="ok",network="mainnet"} 2',
      'service_request_duration_seconds_count{method="refused",code="not_found",network="testnet"} 1',
    ]);
  });
});

describe("the loop monitor", () => {
  it("reports the longest block, and is reset", async () => {
    metrics = createMetrics();
    const monitor = startLoopMonitor(metrics);
    const turn = async () => {
      for (let at = 0; at < 3; at++) await once(AbortSignal.timeout(12), "abort");
    };
    await turn();
    monitor.reset();
    await turn();
    // Measures processor time, because other time also passes on a busy machine.
    const begin = process.cpuUsage();
    while (process.cpuUsage(begin).user < 120_000);
    await turn();
    expect(monitor.longestBlockMs()).toBeGreaterThan(50);
    expect(Number(await value("service_event_loop_longest_block_seconds"))).toBeGreaterThan(0.05);
    monitor.reset();
    expect(monitor.longestBlockMs()).toBe(0);
    monitor.close();
  });
});
