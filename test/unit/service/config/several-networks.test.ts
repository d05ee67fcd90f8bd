import { randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { loadConfig, readConfig } from "../../../../src/service/config/config.ts";

const hex = () => randomBytes(32).toString("hex");
const id = `0x${"1".repeat(64)}`;
const addressOf = (name: string) => ({
  [`SUI_GRPC_URL_${name}`]: `https://${name.toLowerCase()}.example`,
  [`SERVICECORE_${name}_PACKAGE_ID`]: id,
  [`SERVICECORE_${name}_TREASURY_ID`]: id,
  [`SERVICECORE_${name}_OPERATOR_CAP_IDS`]: id,
});
const BOTH = {
  NETWORKS: "testnet,mainnet",
  DATABASE_URL: "postgresql://db/tss",
  CORS_ORIGINS: "https://app.example",
  ...addressOf("TESTNET"),
  ...addressOf("MAINNET"),
  HOT_WALLET_SUI_SECRET_HEX_TESTNET: hex(),
  HOT_WALLET_SUI_SECRET_HEX_MAINNET: hex(),
};
const faultsOf = (more: NodeJS.ProcessEnv) => readConfig({ ...BOTH, ...more }).faults;

describe("several networks", () => {
  it("are read in their order, each with its own settings and the shared ones", () => {
    const { networks } = loadConfig({
      ...BOTH,
      PRESIGN_POOL_HIGH_WATER: "60",
      PRESIGN_POOL_HIGH_WATER_MAINNET: "500",
      BILLING_PRICE_SIGN_MICRO_USD_TESTNET: "0",
    });
    expect(networks.map(({ name }) => name)).toEqual(["testnet", "mainnet"]);
    expect(networks.map(({ presignHighWaterCount }) => presignHighWaterCount)).toEqual([60, 500]);
    expect(networks.map(({ prices }) => prices.signMicroUsd)).toEqual([0n, 10_000n]);
  });

  it("have their own price sources, bounds of prices and limit of wrong halves", () => {
    const feed = (digit: string) => digit.repeat(64);
    const { networks } = loadConfig({
      ...BOTH,
      BILLING_PRICE_SOURCES: "pyth,coinbase",
      BILLING_PRICE_SOURCES_MAINNET: "pyth,coinbase,feed",
      BILLING_PRICE_FEED_URL_MAINNET: "https://feed.example",
      BILLING_PYTH_URL_TESTNET: "https://hermes-beta.example",
      BILLING_PYTH_API_KEY: "shared",
      BILLING_PYTH_API_KEY_MAINNET: "own",
      BILLING_PYTH_FEEDS: `SUI=${feed("a")}`,
      BILLING_PYTH_FEEDS_TESTNET: `SUI=${feed("b")}`,
      BILLING_COINBASE_URL_MAINNET: "https://coinbase.example",
      BILLING_COINBASE_PRODUCTS_TESTNET: "IKA=IKA-USD",
      BILLING_PRICE_REFRESH_SECONDS_TESTNET: "60",
      BILLING_PRICE_MAX_AGE_SECONDS_TESTNET: "600",
      BILLING_PRICE_MAX_SPREAD_PERCENT_MAINNET: "2",
      BILLING_PRICE_MAX_STEP_PERCENT_MAINNET: "10",
      BILLING_PRICE_MAX_HOUR_PERCENT_MAINNET: "25",
      MAX_WRONG_HALVES_PER_PROJECT_PER_MINUTE_MAINNET: "6",
    });
    const found = networks.map(({ deposits: { prices }, wrongHalvesPerMinute }) => {
      const { pyth, coinbase, feed: own, ...bounds } = prices.sources!;
      const feeds = [pyth!.url.reveal(), pyth!.apiKey!.reveal(), pyth!.feedIds.get("SUI"), own?.url.reveal()];
      return { feeds, coinbase: [coinbase!.url, ...coinbase!.products], bounds, wrongHalvesPerMinute };
    });
    expect(found).toEqual([
      {
        feeds: ["https://hermes-beta.example", "shared", feed("b"), undefined],
        coinbase: ["https://api.exchange.coinbase.com", ["IKA", "IKA-USD"]],
        bounds: {
          refreshMs: 60_000,
          maxAgeMs: 600_000,
          maxSpreadPercent: 5,
          maxStepPercent: 20,
          maxHourPercent: 30,
          maxDayPercent: 60,
        },
        wrongHalvesPerMinute: 60,
      },
      {
        feeds: ["https://pyth.dourolabs.app/hermes", "own", feed("a"), "https://feed.example"],
        coinbase: ["https://coinbase.example", ["SUI", "SUI-USD"]],
        bounds: {
          refreshMs: 30_000,
          maxAgeMs: 300_000,
          maxSpreadPercent: 2,
          maxStepPercent: 10,
          maxHourPercent: 25,
          maxDayPercent: 60,
        },
        wrongHalvesPerMinute: 6,
      },
    ]);
  });

  it("have their own rate limits for the keys of their projects, and share those of other calls", () => {
    const rates = {
      RATE_LIMIT_READ_PER_SECOND: "70",
      RATE_LIMIT_READ_PER_SECOND_TESTNET: "7",
      RATE_LIMIT_WRITE_PER_SECOND_MAINNET: "0",
      RATE_LIMIT_BURST_SECONDS_MAINNET: "2",
      RATE_LIMIT_SESSIONS_FACTOR_MAINNET: "3",
    };
    const { networks, rateLimits } = loadConfig({ ...BOTH, ...rates });
    const defaults = { read: 70, write: 300, chain: 300, verify: 100, stream: 100 };
    expect(networks.map((network) => network.rateLimits)).toEqual([
      { perSecond: { ...defaults, read: 7 }, burstSeconds: 10, sessionsFactor: 10 },
      { perSecond: { ...defaults, write: 0 }, burstSeconds: 2, sessionsFactor: 3 },
    ]);
    expect(rateLimits).toEqual({
      perSecond: { ...defaults, refusedKey: 10, open: 20 },
      burstSeconds: 10,
      sessionsFactor: 10,
    });
  });

  it("have their own keys, which are never shared", () => {
    expect(faultsOf({})).toEqual([]);
    expect(faultsOf({ HOT_WALLET_SUI_SECRET_HEX: hex() }).join()).toMatch(
      /^HOT_WALLET_SUI_SECRET_HEX: expected HOT_WALLET_SUI_SECRET_HEX_<NETWORK> for each network instead/,
    );
    expect(faultsOf({ BILLING_DEPOSIT_MASTER_SEED_HEX: hex() }).join()).toMatch(
      /^BILLING_DEPOSIT_MASTER_SEED_HEX: /,
    );
    expect(faultsOf({ HOT_WALLET_SUI_SECRET_HEX_MAINNET: "" }).join()).toMatch(
      /^HOT_WALLET_SUI_SECRET_HEX_MAINNET: expected 64 hex digits, on mainnet/,
    );
    const shared = BOTH.HOT_WALLET_SUI_SECRET_HEX_TESTNET.toUpperCase();
    for (const name of ["HOT_WALLET_SUI_SECRET_HEX_MAINNET", "GAS_STATION_MAINNET_SECRET_HEX"])
      expect(faultsOf({ [name]: shared })).toEqual([
        `${name}: expected a secret that no other network has, found 64 characters`,
      ]);
  });

  it("exclude the localnet, and each may be listed only once", () => {
    expect(faultsOf({ NETWORKS: "localnet,mainnet" }).join()).toContain(
      "localnet alone, or testnet and mainnet",
    );
    expect(faultsOf({ NETWORKS: "mainnet,mainnet" }).join()).toContain("each network once");
    expect(faultsOf({ NETWORKS: "mainnet,devnet" }).join()).toContain("one of localnet, testnet, mainnet");
  });

  it("need a database that they can share", () => {
    expect(faultsOf({ DATABASE_URL: "" }).join()).toMatch(/^DATABASE_URL: .*with several networks/);
  });

  it("report a fault of a shared variable once, and name a network's own variable", () => {
    expect(faultsOf({ PRESIGN_BATCH_SIZE: "33" })).toHaveLength(1);
    expect(faultsOf({ PRESIGN_BATCH_SIZE_MAINNET: "33" })).toEqual([
      'PRESIGN_BATCH_SIZE_MAINNET: expected a whole number from 1 to 32, found "33"',
    ]);
  });

  it("show the variables of one network that are set, and warn about those that belong to no network", () => {
    const { settings, warnings } = readConfig({
      ...BOTH,
      VERIFY_THREADS_MAINNET: "4",
      PRESIGN_BATCH_SIZE_DEVNET: "1",
    });
    expect(settings.find(({ name }) => name === "VERIFY_THREADS_MAINNET")).toMatchObject({ value: "4" });
    expect(settings.some(({ name }) => name === "VERIFY_THREADS_TESTNET")).toBe(false);
    expect(warnings.join()).toContain("PRESIGN_BATCH_SIZE_DEVNET");
  });
});
