import { pino } from "pino";
import { expect, it } from "vitest";
import type { OpenNetwork } from "../../../../src/service/app/open-network.ts";
import { openNetworks } from "../../../../src/service/app/open-networks.ts";
import type { NetworkConfig } from "../../../../src/service/config/networks.ts";
import { Lifecycle } from "../../../../src/service/platform/lifecycle/lifecycle.ts";
import { createMetrics } from "../../../../src/service/platform/telemetry/metrics.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

it("a stop is not clean if a part of one network had to be forced, and the other networks still stop", async () => {
  const log = pino({ level: "silent" });
  const lifecycle = new Lifecycle({ log });
  const stopped: string[] = [];
  await openNetworks({
    networks: [{ name: "testnet" }, { name: "mainnet" }] as NetworkConfig[],
    async open({ name }, own) {
      own.onStop("pool", () => {
        stopped.push(name);
        return name !== "testnet";
      });
      return {} as OpenNetwork;
    },
    access: () => Promise.reject(new Error("not asked")),
    ...{ clock: createManualClock(), lifecycle, metrics: createMetrics(), log },
  });
  expect(await lifecycle.stop()).toBe(false);
  expect(stopped.sort()).toEqual(["mainnet", "testnet"]);
});
