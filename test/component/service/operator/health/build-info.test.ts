import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it } from "vitest";
import manifest from "../../../../../package.json" with { type: "json" };
import { readCommit } from "../../../../../src/service/operator/health/build-info.ts";
import { healthRoute, metricsRoute } from "../../../../../src/service/operator/health/health-and-metrics.ts";
import { createMetrics } from "../../../../../src/service/platform/telemetry/metrics.ts";
import { printed } from "../../../cli/run-cli.ts";

const COMMIT = "0123456789abcdef0123456789abcdef01234567";
const REQUEST = { headers: {}, query: new URLSearchParams(), isDraining: false };

const healthOf = async (...build: Parameters<typeof healthRoute>) =>
  JSON.parse(String((await healthRoute(...build).handle(REQUEST)).body)) as Record<string, unknown>;

describe("the running version", () => {
  it("is in the health reply, with the commit if the build knows it", async () => {
    expect(await healthOf({ version: "1.2.3", commit: COMMIT })).toMatchObject({
      version: "1.2.3",
      commit: COMMIT,
    });
    expect(await healthOf({ version: "1.2.3", commit: undefined })).not.toHaveProperty("commit");
    expect(await healthOf()).toMatchObject({ status: "ok", version: manifest.version });
  });

  it("is a metric, with the commit if the build knows it", async () => {
    const lines = await Promise.all(
      [COMMIT, undefined].map(async (commit) => {
        const metrics = createMetrics();
        const { body } = await metricsRoute(metrics, () => 0, { version: "1.2.3", commit }).handle(REQUEST);
        metrics.close();
        return /^service_build_info.*/m.exec(String(body))?.[0];
      }),
    );
    expect(lines).toEqual([
      `service_build_info{version="1.2.3",commit="${COMMIT}"} 1`,
      'service_build_info{version="1.2.3",commit=""} 1',
    ]);
  });

  it("is printed by the command in words and as JSON", async () => {
    expect(await printed(["version"])).toMatch(manifest.version);
    expect(await printed(["--version"])).toBe(await printed(["version"]));
    expect(JSON.parse(await printed(["version", "--json"]))).toMatchObject({ version: manifest.version });
  });

  it("has the commit from the build's file, and none without it", () => {
    const folder = mkdtempSync(path.join(tmpdir(), "build-"));
    const file = pathToFileURL(path.join(folder, "build.json"));
    expect(readCommit(file)).toBeUndefined();
    writeFileSync(file, "{}");
    expect(readCommit(file)).toBeUndefined();
    writeFileSync(file, JSON.stringify({ commit: COMMIT }));
    expect(readCommit(file)).toBe(COMMIT);
    rmSync(folder, { recursive: true });
  });
});
