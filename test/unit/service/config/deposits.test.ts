import { describe, expect, it } from "vitest";
import { loadConfig, readConfig } from "../../../../src/service/config/config.ts";

const faultsOf = (environment: NodeJS.ProcessEnv) => readConfig(environment).faults;

describe("the configuration of deposits", () => {
  it("accepts deposits on the localnet at fixed prices by default, and elsewhere only if configured", () => {
    const deposits = (environment: NodeJS.ProcessEnv) => loadConfig(environment).networks[0].deposits;
    expect(deposits({})).toMatchObject({
      masterSeedHex: undefined,
      minimumMicroUsd: 1_000_000n,
      prices: {
        fixed: new Map([
          ["SUI", 3_500_000_000_000n],
          ["IKA", 20_000_000_000n],
        ]),
        sources: undefined,
      },
    });
    const testnet = { NETWORKS: "testnet", BILLING_DEPOSIT_MASTER_SEED_HEX: "ab".repeat(32) };
    expect(faultsOf(testnet).join()).toMatch(/BILLING_USD_PRICES: expected prices, or BILLING_PRICE_SOURCES/);
    expect(faultsOf({ BILLING_DEPOSIT_MASTER_SEED_HEX: "deadbeef" })).toEqual([
      "BILLING_DEPOSIT_MASTER_SEED_HEX: expected 64 hex digits, found 8 characters",
    ]);
    for (const prices of ["SUI", "SUI=0", "SUI=1,SUI=2", "USDC=1", "SUI=1e3", "0x2::sui=1"]) {
      expect(faultsOf({ BILLING_USD_PRICES: prices })).toHaveLength(1);
    }
  });

  it("reads prices from the configured sources, and from a feed with a URL", () => {
    const prices = (environment: NodeJS.ProcessEnv) => loadConfig(environment).networks[0].deposits.prices;
    const feed = { BILLING_PRICE_FEED_URL: "https://prices.example/now" };
    expect(prices(feed)).toMatchObject({
      fixed: new Map(),
      sources: { pyth: undefined, coinbase: undefined, maxAgeMs: 300_000, maxStepPercent: 20 },
    });
    expect(prices(feed).sources?.feed?.url.reveal()).toBe("https://prices.example/now");
    expect(prices({ ...feed, BILLING_PRICE_SOURCES: "coinbase" }).sources?.feed).toBeUndefined();
    const both = prices({ BILLING_PRICE_SOURCES: "pyth, coinbase" });
    expect(both.sources?.pyth?.url.reveal()).toBe("https://pyth.dourolabs.app/hermes");
    expect([...both.sources!.pyth!.feedIds.keys()]).toEqual(["SUI", "IKA"]);
    expect(both.sources?.coinbase).toEqual({
      url: "https://api.exchange.coinbase.com",
      products: new Map([["SUI", "SUI-USD"]]),
    });
    expect(prices({ BILLING_PRICE_FEED_URL: "http://127.0.0.1:80/" }).sources?.feed).toBeDefined();
  });

  it("reads no source if there are fixed prices, and names the coins without one", () => {
    const prices = (usd: string) =>
      loadConfig({ BILLING_PRICE_SOURCES: "pyth, coinbase", BILLING_USD_PRICES: usd }).networks[0].deposits
        .prices;
    expect(prices("IKA=0.02")).toEqual({
      fixed: new Map([["IKA", 20_000_000_000n]]),
      sources: undefined,
      ignoredSources: ["pyth", "coinbase"],
      unpriced: ["SUI"],
    });
    expect(prices("0x2::sui::SUI=3,0xab::ika::IKA=1").unpriced).toEqual([]);
    expect(prices("0xab::usdc::USDC=1").unpriced).toEqual(["SUI", "IKA"]);
  });

  it.each<[string, string]>([
    ["BILLING_PRICE_SOURCES", "binance"],
    ["BILLING_PRICE_SOURCES", "pyth,pyth"],
    ["BILLING_PRICE_FEED_URL", "http://prices.example"],
    ["BILLING_PYTH_URL", "http://hermes.example"],
    ["BILLING_PYTH_API_KEY", "a key"],
    ["BILLING_PYTH_FEEDS", "SUI=23d7"],
    ["BILLING_PYTH_FEEDS", `USDC=${"ab".repeat(32)}`],
    ["BILLING_COINBASE_URL", "http://exchange.example"],
    ["BILLING_COINBASE_PRODUCTS", "SUI=SUI-EUR"],
    ["BILLING_COINBASE_PRODUCTS", "SUI=../accounts"],
    ["BILLING_COINBASE_PRODUCTS", "SUI=SUI-USD,SUI=SUI-USD"],
    ["BILLING_PRICE_MAX_SPREAD_PERCENT", "0"],
  ])("refuses %s=%s, and names the variable", (name, value) => {
    const faults = faultsOf({ [name]: value });
    expect(faults).toHaveLength(1);
    expect(faults[0]).toMatch(new RegExp(`^${name}: expected `));
  });

  it("requires the URL of a feed that is a source", () => {
    expect(faultsOf({ BILLING_PRICE_SOURCES: "feed" })).toEqual([
      "BILLING_PRICE_FEED_URL: expected the URL of the source feed, found nothing",
    ]);
  });
});
