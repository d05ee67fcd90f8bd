import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { takeDeposits } from "../../../../src/service/app/take-deposits.ts";
import { depositAddress } from "../../../../src/service/billing/deposits/deposit-address.ts";
import type { ChainNetwork } from "../../../../src/service/chain/fullnodes/network.ts";
import { loadConfig } from "../../../../src/service/config/config.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith } from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(() => database.query("DELETE FROM deposit_address"));

const warned: object[] = [];
const take = (
  name: string,
  seedHex: string | undefined,
  prices: string | NodeJS.ProcessEnv = "SUI=1,IKA=2",
  announced?: { readonly takesDeposits: boolean },
) =>
  takeDeposits({
    usersMaxCount: 10,
    database,
    network: {
      name,
      client: { core: { getCoinMetadata: async () => ({ coinMetadata: null }) } },
      backOff: { run: (call: () => unknown) => call() },
      times: { readMs: 1_000 },
      clock: systemClock,
      ikaConfig: { packages: { ikaPackage: "0xabc" } },
    } as unknown as ChainNetwork,
    callerReads: () => ({ backOff: { run: (call) => call() } }),
    config: loadConfig({
      ...(typeof prices === "string" ? { BILLING_USD_PRICES: prices } : prices),
      ...(seedHex && { BILLING_DEPOSIT_MASTER_SEED_HEX: seedHex }),
    }).networks[0].deposits,
    announced,
    signals: createLocalSignals(),
    log: { ...silentLog, warn: (fields: object) => void warned.push(fields) },
  });

it("deposits work without a seed on the localnet, and on no other network", async () => {
  expect((await take("localnet", undefined)).deposits?.coins.map(({ symbol }) => symbol)).toEqual([
    "SUI",
    "IKA",
  ]);
  expect(await take("testnet", undefined)).toEqual({
    deposits: undefined,
    pricedCoins: [],
    priceLoops: [],
    watchLoops: [],
  });
});

it.each<[string, NodeJS.ProcessEnv, string[]]>([
  ["a source has", { BILLING_PRICE_SOURCES: "coinbase" }, ["SUI"]],
  ["one of several sources has", { BILLING_PRICE_SOURCES: "coinbase,pyth" }, ["IKA", "SUI"]],
  [
    "BILLING_USD_PRICES prices, whatever the sources have",
    { BILLING_PRICE_SOURCES: "coinbase,pyth", BILLING_USD_PRICES: "IKA=2" },
    ["IKA"],
  ],
])("the accepted coins are those that %s", async (_, prices, symbols) => {
  const { deposits } = await take("localnet", undefined, prices);
  expect(deposits?.coins.map(({ symbol }) => symbol).sort()).toEqual(symbols);
});

it("a service with BILLING_USD_PRICES reads no price source, and says which coins it does not accept", async () => {
  const sources = { BILLING_PRICE_SOURCES: "coinbase,pyth" };
  expect((await take("localnet", undefined, sources)).pricedCoins).toHaveLength(2);
  warned.length = 0;
  const fixed = await take("localnet", undefined, { ...sources, BILLING_USD_PRICES: "SUI=1" });
  expect(fixed).toMatchObject({ pricedCoins: [], priceLoops: [] });
  expect(fixed.deposits?.prices.refresh).toBeUndefined();
  expect(warned).toEqual([{ sources: ["pyth", "coinbase"] }, { coins: ["IKA"] }]);
  warned.length = 0;
  await take("localnet", undefined, { BILLING_USD_PRICES: "SUI=1,IKA=2" });
  expect(warned).toEqual([]);
});

it("a seed that did not derive the existing addresses is refused", async () => {
  const seedHex = "ab".repeat(32);
  const { deposits } = await take("localnet", seedHex);
  await depositAddress(deposits!, { projectId: await projectWith(database, 0n), reference: "" });
  await expect(take("localnet", "cd".repeat(32))).rejects.toThrow(/follow from another seed/);
  expect((await take("localnet", seedHex)).deposits).toBeDefined();
});

it("a coin is accepted under one name only, and only if the network knows it", async () => {
  await expect(take("localnet", undefined, "SUI=1,0x2::sui::SUI=2")).rejects.toThrow(/under another name/);
  await expect(take("localnet", undefined, "0x5::usdc::USDC=1")).rejects.toThrow(/knows no coin/);
});

it("a process without the seed takes deposits exactly if one with the seed announced it, and never uses the public seed", async () => {
  expect((await take("localnet", undefined, "SUI=1", { takesDeposits: false })).deposits).toBeUndefined();
  const { deposits } = await take("testnet", undefined, "SUI=1", { takesDeposits: true });
  expect([deposits?.masterSeed, deposits?.coins.map(({ symbol }) => symbol)]).toEqual([undefined, ["SUI"]]);
  const local = await take("localnet", "ab".repeat(32), "SUI=1", { takesDeposits: true });
  expect(local.deposits?.masterSeed).toBeUndefined();
  await expect(take("testnet", undefined, ",", { takesDeposits: true })).rejects.toThrow(
    /BILLING_USD_PRICES/,
  );
});
