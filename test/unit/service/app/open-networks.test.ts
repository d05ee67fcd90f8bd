import { pino } from "pino";
import { expect, it } from "vitest";
import { openNetworks, type ServedNetwork } from "../../../../src/service/app/open-networks.ts";
import type { Service } from "../../../../src/service/app/service.ts";
import type { Config } from "../../../../src/service/config/config.ts";
import { Lifecycle } from "../../../../src/service/platform/lifecycle/lifecycle.ts";
import { createMetrics } from "../../../../src/service/platform/telemetry/metrics.ts";
import { createManualClock } from "../../../support/manual-clock.ts";

it("a stop is not clean if a part of one network had to be forced, and the other networks still stop", async () => {
  const log = pino({ level: "silent" });
  const lifecycle = new Lifecycle({ log });
  const stopped: string[] = [];
  const networks = [{ name: "testnet" }, { name: "mainnet" }] as unknown as Config["networks"];
  const parts = { config: { networks } as Config, clock: createManualClock(), lifecycle, log };
  await openNetworks({ ...parts, metrics: createMetrics() } as unknown as Service, async ({ name }, own) => {
    own.onStop("pool", () => {
      stopped.push(name);
      return name !== "testnet";
    });
    return {} as ServedNetwork;
  });
  expect(await lifecycle.stop()).toBe(false);
  expect(stopped.sort()).toEqual(["mainnet", "testnet"]);
});
