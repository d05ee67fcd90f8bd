import { describe, expect, it } from "vitest";
import { loadConfig } from "../../../../../src/service/config/config.ts";
import { priceChecks } from "../../../../../src/service/operator/health/checks/price-checks.ts";

const READ_AT = new Date("2026-01-31T12:00:00Z");

/** What the doctor finds with these settings, and this row of a stored price. */
async function find(environment: NodeJS.ProcessEnv, doubted: object = {}) {
  const none = { doubtedPicoUsd: null, doubtedAt: null, since: null, beyond: null };
  const row = {
    coinType: "0x2::sui::SUI",
    picoUsd: 3_500_000_000_000n,
    readAt: READ_AT,
    ...none,
    ...doubted,
  };
  const [check] = priceChecks({
    config: loadConfig(environment).networks[0],
    chain: {} as never,
    database: async () => ({ kind: "postgres", db: { query: async <Row>() => [row] as Row[] } }),
  });
  return check?.look();
}

describe("the doctor's look at the prices of coins", () => {
  it("names the coins that fixed prices leave out, and the sources that they turn off", async () => {
    expect(await find({ BILLING_USD_PRICES: "SUI=3.5,IKA=0.02" })).toMatchObject({ status: "ok" });
    expect(await find({ BILLING_USD_PRICES: "SUI=3.5" })).toEqual({
      status: "info",
      found: "SUI at $3.50, fixed; not accepted, because BILLING_USD_PRICES has no price of it: IKA",
    });
    const ignored = await find({ BILLING_USD_PRICES: "SUI=3.5", BILLING_PRICE_SOURCES: "coinbase" });
    expect(ignored).toMatchObject({
      status: "warn",
      found: expect.stringMatching(/IKA; not read: coinbase$/),
    });
  });

  it("warns of a price that waits, with the bound that it exceeds and the command that confirms it", async () => {
    const sources = { BILLING_PRICE_SOURCES: "coinbase" };
    expect(await find(sources)).toMatchObject({
      status: "ok",
      found: expect.stringContaining("at $3.50 of 2026"),
    });
    const doubted = { doubtedPicoUsd: 7_000_000_000_000n, doubtedAt: READ_AT, since: READ_AT, beyond: "day" };
    expect(await find(sources, doubted)).toMatchObject({
      status: "warn",
      found: expect.stringMatching(/and \$7.00 waits since 2026\S+: it is beyond the maximum of a day$/),
      advice: expect.stringContaining("`tss coin-price confirm`"),
    });
  });

  it("has nothing to say of a network without deposits", async () => {
    const mainnet = { NETWORKS: "localnet", BILLING_USD_PRICES: "SUI=1" };
    const [network] = loadConfig(mainnet).networks;
    const config = { ...network, name: "mainnet" as const };
    expect(priceChecks({ config, chain: {} as never, database: async () => ({}) as never })).toEqual([]);
  });
});
