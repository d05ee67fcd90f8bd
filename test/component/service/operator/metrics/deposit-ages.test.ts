import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createDepositAges } from "../../../../../src/service/operator/metrics/deposit-ages.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { createMetrics, type Metrics } from "../../../../../src/service/platform/telemetry/metrics.ts";
import { createNetworkMetrics } from "../../../../../src/service/platform/telemetry/network-metrics.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";

const SUI = { symbol: "SUI", coinType: "0x2::sui::SUI" };
const IKA = { symbol: "IKA", coinType: "0xabc::ika::IKA" };
let database: Database;
let metrics: Metrics;
let nowMs = 0;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  metrics = createMetrics();
  await database.query("DELETE FROM coin_price");
});
afterEach(() => metrics.close());

const agesOf = (pricedCoins: readonly (typeof SUI)[], network = "mainnet") =>
  createDepositAges(createNetworkMetrics(metrics)(network), {
    database,
    network,
    pricedCoins,
    priceBounds: { maxHourPercent: 30, maxDayPercent: 60 },
    clock: { now: () => nowMs },
  });

const priced = (network: string, { coinType }: typeof SUI, ageSeconds: number) =>
  database.query(
    `INSERT INTO coin_price (network, coin_type, price_pico_usd, read_at)
     VALUES ($1, $2, 1, now() - make_interval(secs => $3))`,
    [network, coinType, ageSeconds],
  );

/** The value of a gauge for a coin. */
async function gauge(name: string, labels: string): Promise<number> {
  const { body } = await metrics.render();
  const line = body.split("\n").find((text) => text.startsWith(`${name}{${labels}`));
  return Number(line?.split(" ").at(-1));
}

/** The shown ages in whole seconds, by the text of their labels. */
async function shown(): Promise<Record<string, number>> {
  const { body } = await metrics.render();
  const lines = [...body.matchAll(/^service_price_age_seconds(?:\{(.*)\})? (\S+)$/gm)];
  return Object.fromEntries(lines.map(([, labels = "", value]) => [labels, Math.floor(Number(value))]));
}

describe("the age of a price", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("is the time since the coin was priced on that network", async () => {
    await priced("mainnet", SUI, 3_600);
    await priced("mainnet", IKA, 7_200);
    await priced("testnet", SUI, 86_400);
    const show = agesOf([SUI, IKA]);
    expect(await shown()).toEqual({});
    await show();
    const ages = await shown();
    expect(Object.keys(ages)).toEqual(['coin="SUI",network="mainnet"', 'coin="IKA",network="mainnet"']);
    expect(ages['coin="SUI",network="mainnet"']).toBeLessThan(7_200);
    expect(ages['coin="SUI",network="mainnet"']).toBeGreaterThanOrEqual(3_600);
    expect(ages['coin="IKA",network="mainnet"']).toBeGreaterThanOrEqual(7_200);
  });

  it("is not shown for a coin that the sources no longer price, such as one that got a fixed price", async () => {
    await priced("mainnet", SUI, 60);
    await priced("mainnet", IKA, 86_400);
    await agesOf([SUI])();
    expect(Object.keys(await shown())).toEqual(['coin="SUI",network="mainnet"']);
  });

  it("counts from the start of the process for a coin that was never priced", async () => {
    nowMs = 5_000;
    const show = agesOf([SUI, IKA]);
    await priced("testnet", IKA, 60);
    nowMs += 901_000;
    await show();
    expect(await shown()).toEqual({
      'coin="SUI",network="mainnet"': 901,
      'coin="IKA",network="mainnet"': 901,
    });
    await priced("mainnet", IKA, 0);
    await show();
    expect((await shown())['coin="SUI",network="mainnet"']).toBe(901);
    expect((await shown())['coin="IKA",network="mainnet"']).toBeLessThan(901);
  });

  it("is not shown where no source prices a coin", async () => {
    await priced("mainnet", SUI, 60);
    await agesOf([])();
    expect(await shown()).toEqual({});
  });
});

describe("the movement of a price", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("is its share of what an hour and a day allow, and a waiting price has an age", async () => {
    await priced("mainnet", SUI, 60);
    await priced("mainnet", IKA, 60);
    await database.query(
      `UPDATE coin_price SET doubted_pico_usd = 9, doubted_at = now(), doubted_for = 'day',
         doubted_since = now() - interval '90 seconds' WHERE coin_type = $1`,
      [IKA.coinType],
    );
    for (const [minutes, low, high] of [
      [10, 110, 115],
      [50, 100, 112],
      [600, 100, 130],
      [1_500, 1, 1_000],
    ])
      await database.query(
        `INSERT INTO coin_price_range (network, coin_type, began_at, low_pico_usd, high_pico_usd)
         VALUES ('mainnet', $1, now() - make_interval(mins => $2), $3, $4)`,
        [SUI.coinType, minutes, low, high],
      );
    await agesOf([SUI, IKA])();
    const moved = (window: string) =>
      gauge("service_price_movement_ratio", `coin="SUI",window="${window}",network="mainnet"`);
    expect(await moved("hour")).toBeCloseTo(0.5);
    expect(await moved("day")).toBeCloseTo(0.5);
    const waiting = (coin: string) => gauge("service_price_waiting_seconds", `coin="${coin}"`);
    expect(await waiting("SUI")).toBe(0);
    expect(await waiting("IKA")).toBeGreaterThanOrEqual(90);
  });
});
