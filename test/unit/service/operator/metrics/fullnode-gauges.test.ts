import { afterEach, expect, it } from "vitest";
import type { FullnodeStatus } from "../../../../../src/service/chain/fullnodes/fullnodes.ts";
import { createFullnodeGauges } from "../../../../../src/service/operator/metrics/fullnode-gauges.ts";
import { createMetrics } from "../../../../../src/service/platform/telemetry/metrics.ts";

const metrics = createMetrics();
afterEach(() => metrics.close());

it("the gauges show, by position, which fullnode answers and which ones are skipped", async () => {
  let statuses: FullnodeStatus[] = [];
  createFullnodeGauges(metrics, () => statuses);
  const shown = async () =>
    (await metrics.render()).body.split("\n").filter((line) => line.startsWith("service_fullnode_"));
  expect(await shown()).toEqual([]);
  const status = { host: "node.example", isServing: false, isSkipped: false, fault: undefined };
  statuses = [
    { ...status, isSkipped: true },
    { ...status, isServing: true },
  ];
  expect(await shown()).toEqual([
    'service_fullnode_serving{fullnode="0"} 0',
    'service_fullnode_serving{fullnode="1"} 1',
    'service_fullnode_skipped{fullnode="0"} 1',
    'service_fullnode_skipped{fullnode="1"} 0',
  ]);
});
