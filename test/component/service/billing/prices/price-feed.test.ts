import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPriceFeed } from "../../../../../src/service/billing/prices/price-feed.ts";
import type { PriceReader } from "../../../../../src/service/billing/prices/price-readers.ts";
import { parseUsdPrice } from "../../../../../src/service/billing/prices/price-source.ts";
import { confirmPrice, listStoredPrices } from "../../../../../src/service/billing/prices/stored-prices.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { IKA, SUI } from "../../../../support/database/deposits.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const MAX_AGE_MS = 60_000;
let database: Database;
let network: string;
let nowMs: number;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(() => {
  network = newId();
  nowMs = 1_000_000_000;
});

/** A source whose answers the test sets. */
interface SpokenSource extends PriceReader {
  says(usd: Readonly<Record<string, number>>, timeMs?: number): void;
  isSilent: boolean;
}

function source(name: PriceReader["name"], ...covered: string[]): SpokenSource {
  let said: Awaited<ReturnType<PriceReader["read"]>> = new Map();
  return {
    name,
    isSilent: false,
    covers: (coin) => covered.length === 0 || covered.includes(coin.name),
    says(usd, timeMs = nowMs) {
      const time = new Date(timeMs);
      said = new Map(
        Object.entries(usd).map(([coin, price]) => {
          const picoUsd = BigInt(Math.round(price * 1e6)) * 1_000_000n;
          return [coin, { picoUsd, lowPicoUsd: picoUsd, highPicoUsd: picoUsd, time }];
        }),
      );
    },
    async read() {
      if (this.isSilent) throw new Error("no answer");
      return said;
    },
  };
}

let warned: object[] = [];
const feedOf = (...readers: PriceReader[]) => {
  warned = [];
  return createPriceFeed({
    clock: { ...systemClock, wallMs: () => nowMs },
    log: { ...silentLog, warn: (fields: object) => warned.push(fields) },
    readers,
    network,
    database,
    coins: [SUI, IKA],
    refreshMs: 1_000,
    maxAgeMs: MAX_AGE_MS,
    maxStepPercent: 20,
    maxSpreadPercent: 5,
    maxHourPercent: 30,
    maxDayPercent: 60,
  });
};
const refresh = (feed: ReturnType<typeof feedOf>) => feed.refresh(new AbortController().signal);

/** Confirms the price of SUI as an operator, in a call that has the test's network as its id. */
const confirm = (usd: string) =>
  confirmPrice(
    database,
    { actor: "admin:alice", requestId: network },
    { network, coinType: SUI.coinType, picoUsd: parseUsdPrice(usd)!, tolerancePercent: 5, nowMs },
  );

const usdOf = (feed: ReturnType<typeof feedOf>, coin = SUI) => {
  const price = feed.priceOf(coin.coinType);
  return price && Number(price.picoUsd) / 1e12;
};

describe("the price of one source", () => {
  it("has the source's own time, and expires by it", async () => {
    const one = source("feed");
    const feed = feedOf(one);
    expect(feed.priceOf(SUI.coinType)).toBeUndefined();
    one.says({ SUI: 3.5, [IKA.coinType]: 0.02, OTHER: 1 }, nowMs - 10_000);
    await refresh(feed);
    const time = new Date(nowMs - 10_000);
    expect(feed.priceOf(SUI.coinType)).toEqual({ picoUsd: 3_500_000_000_000n, time });
    expect(feed.priceOf(IKA.coinType)).toEqual({ picoUsd: 20_000_000_000n, time });
    nowMs += MAX_AGE_MS - 10_000;
    expect(feed.priceOf(SUI.coinType)).toBeDefined();
    nowMs += 1;
    expect(feed.priceOf(SUI.coinType)).toBeUndefined();
  });

  it("is ignored if it is too old or from the future when it arrives", async () => {
    const one = source("feed");
    const feed = feedOf(one);
    for (const timeMs of [nowMs - MAX_AGE_MS - 1, nowMs + 120_000]) {
      one.says({ SUI: 3.5, IKA: 1 }, timeMs);
      await refresh(feed);
      expect(feed.priceOf(SUI.coinType)).toBeUndefined();
    }
  });

  it("is ignored after a jump until an operator confirms it, even on a restarted or another replica", async () => {
    const one = source("feed");
    const usd = { SUI: 35, IKA: 1 };
    one.says({ ...usd, SUI: 3.5 });
    await refresh(feedOf(one));
    nowMs += 1_000;
    one.says(usd);
    let feed = feedOf(one);
    await refresh(feed);
    expect(usdOf(feed)).toBe(3.5);
    expect(feed.priceOf(IKA.coinType)?.time).toEqual(new Date(nowMs));
    expect(warned).toContainEqual(expect.objectContaining({ coinType: SUI.coinType, bound: "day" }));
    nowMs += 10 * MAX_AGE_MS;
    one.says(usd);
    feed = feedOf(one);
    await refresh(feed);
    expect(usdOf(feed)).toBeUndefined();
    await confirm("35.1");
    nowMs += 1_000;
    one.says(usd);
    await refresh(feed);
    expect(usdOf(feed)).toBe(35);
  });

  it("climbs in steps by at most the bound of an hour, then of a day, on all replicas together", async () => {
    const one = source("feed");
    let usd = 1;
    one.says({ SUI: usd });
    await refresh(feedOf(one));
    nowMs += 1_000;
    const startMs = nowMs;
    const reached: number[] = [];
    while (nowMs < startMs + 26 * 3_600_000) {
      // Each replica is a new one, and the source climbs as fast as it is believed.
      const feed = feedOf(one);
      one.says({ SUI: usd * 1.199 });
      await refresh(feed);
      const price = usdOf(feed);
      if (price !== undefined && price > usd) usd = price;
      nowMs += 900_000;
      reached.push(usd);
    }
    expect(Math.max(...reached.slice(0, 4))).toBeLessThanOrEqual(1.3);
    expect(Math.max(...reached.slice(0, 96))).toBeLessThanOrEqual(1.6);
    expect(Math.max(...reached)).toBeGreaterThan(1.6);
  });

  it("warns during a ramp, before the bound is reached", async () => {
    const one = source("feed");
    const feed = feedOf(one);
    for (const usd of [1, 1.14, 1.17, 1.18]) {
      one.says({ SUI: usd });
      await refresh(feed);
      nowMs += 1_000;
    }
    expect(warned.filter((fields) => "bound" in fields)).toEqual([{ coinType: SUI.coinType, bound: "hour" }]);
  });

  it("is not replaced by an older one of a replica whose source lags", async () => {
    const [fast, slow] = [source("feed"), source("feed")];
    slow.says({ SUI: 3.4 });
    nowMs += 1_000;
    fast.says({ SUI: 3.5 });
    const replicas = [feedOf(fast), feedOf(slow)] as const;
    await refresh(replicas[0]);
    await refresh(replicas[1]);
    expect(replicas.map((feed) => usdOf(feed))).toEqual([3.5, 3.5]);
    const restarted = feedOf(slow);
    await refresh(restarted);
    expect(usdOf(restarted)).toBe(3.5);
  });

  it("stays at the last accepted value while the source fails, and the failure is reported", async () => {
    const one = source("feed");
    const feed = feedOf(one);
    one.says({ SUI: 3.5, IKA: 1 });
    await refresh(feed);
    one.isSilent = true;
    await expect(refresh(feed)).rejects.toThrow("no answer");
    expect(usdOf(feed)).toBe(3.5);
  });
});

describe("a confirmed price", () => {
  it("is refused unless it is close to the waiting one, and written to the audit trail", async () => {
    const one = source("feed");
    const feed = feedOf(one);
    await expect(confirm("3.5")).rejects.toMatchObject({ reason: "WRONG_STATE" });
    one.says({ SUI: 3.5 });
    await refresh(feed);
    await expect(confirm("3.5")).rejects.toMatchObject({ reason: "WRONG_STATE" });
    nowMs += 1_000;
    one.says({ SUI: 7 });
    await refresh(feed);
    await expect(confirm("3.5")).rejects.toMatchObject({ reason: "WRONG_STATE" });
    await expect(confirm("7.4")).rejects.toMatchObject({ reason: "WRONG_STATE" });
    const [waiting] = await listStoredPrices(database, network);
    expect(waiting).toMatchObject({ picoUsd: 3_500_000_000_000n, doubted: { beyond: "day" } });
    await confirm("7.3");
    const [confirmed] = await listStoredPrices(database, network);
    expect(confirmed).toMatchObject({ picoUsd: 7_000_000_000_000n, doubted: undefined });
    const events = await database.query(
      "SELECT actor, subject FROM audit_event WHERE action = 'price.confirm' AND request_id = $1",
      [network],
    );
    expect(events).toEqual([{ actor: "admin:alice", subject: SUI.coinType }]);
  });

  it("is the new base of its bounds", async () => {
    const one = source("feed");
    const feed = feedOf(one);
    for (const usd of [3.5, 7]) {
      nowMs += 1_000;
      one.says({ SUI: usd });
      await refresh(feed);
    }
    await confirm("7");
    for (const [usd, expected] of [
      [8.3, 8.3],
      [3.5, 8.3],
    ] as const) {
      nowMs += 1_000;
      one.says({ SUI: usd });
      await refresh(feed);
      expect(usdOf(feed)).toBe(expected);
    }
  });
});

describe("the price of several sources", () => {
  const sources = () => [source("pyth"), source("coinbase", "SUI"), source("feed")] as const;

  it("is the median", async () => {
    const [pyth, coinbase, own] = sources();
    const feed = feedOf(pyth, coinbase, own);
    pyth.says({ SUI: 3.5, IKA: 0.02 });
    coinbase.says({ SUI: 3.51 });
    own.says({ SUI: 3.6, IKA: 0.0202 });
    await refresh(feed);
    expect(usdOf(feed)).toBe(3.51);
    expect(usdOf(feed, IKA)).toBe(0.0201);
  });

  it("needs fresh prices of more than half of the sources that have the coin", async () => {
    const [pyth, coinbase, own] = sources();
    const feed = feedOf(pyth, coinbase, own);
    coinbase.isSilent = true;
    pyth.says({ SUI: 3.5, IKA: 0.02 });
    own.says({ SUI: 3.52 });
    await refresh(feed);
    expect(usdOf(feed)).toBe(3.51);
    // Two sources cover it, and one alone is not more than half of them.
    expect(usdOf(feed, IKA)).toBeUndefined();
    expect(warned).toContainEqual(expect.objectContaining({ source: "coinbase" }));
    nowMs += 30_000;
    pyth.says({ SUI: 3.7, IKA: 0.02 });
    own.says({ SUI: 3.72, IKA: 0.02 }, nowMs - MAX_AGE_MS - 1);
    await refresh(feed);
    expect(usdOf(feed)).toBe(3.51);
    expect(warned).toContainEqual(expect.objectContaining({ sourceCount: 3, readingCount: 1 }));
  });

  it("is missing while the sources are too far apart, so that one lying source cannot move it", async () => {
    const [pyth, coinbase, own] = sources();
    const feed = feedOf(pyth, coinbase, own);
    pyth.says({ SUI: 3.5 });
    coinbase.says({ SUI: 3.5 });
    own.says({ SUI: 350 });
    await refresh(feed);
    expect(usdOf(feed)).toBeUndefined();
    own.says({ SUI: 3.5 });
    await refresh(feed);
    expect(usdOf(feed)).toBe(3.5);
  });

  it("follows a jump that two sources agree on, once it has held", async () => {
    const [pyth, , own] = sources();
    const feed = feedOf(pyth, own);
    for (const [usd, expected] of [
      [3.5, 3.5],
      [4.3, 3.5],
      [4.3, 4.3],
    ] as const) {
      pyth.says({ SUI: usd });
      own.says({ SUI: usd });
      await refresh(feed);
      expect(usdOf(feed)).toBe(expected);
      nowMs += MAX_AGE_MS;
    }
  });

  it("is as old as its oldest part", async () => {
    const [pyth, , own] = sources();
    const feed = feedOf(pyth, own);
    pyth.says({ SUI: 3.5 });
    own.says({ SUI: 3.5 }, nowMs - 50_000);
    await refresh(feed);
    expect(feed.priceOf(SUI.coinType)?.time).toEqual(new Date(nowMs - 50_000));
    nowMs += 10_001;
    expect(feed.priceOf(SUI.coinType)).toBeUndefined();
  });

  it("fails to refresh only if no source answers", async () => {
    const [pyth, coinbase] = sources();
    const feed = feedOf(pyth, coinbase);
    pyth.isSilent = true;
    await refresh(feed);
    coinbase.isSilent = true;
    await expect(refresh(feed)).rejects.toThrow("no answer");
  });
});

it("the failure of a feed's only source, or a coin that it lacks, is reported once", async () => {
  const [pyth] = [source("pyth")];
  const feed = feedOf(pyth);
  pyth.isSilent = true;
  // The loop logs the error.
  await expect(refresh(feed)).rejects.toThrow("no answer");
  expect(warned).toEqual([]);
  pyth.isSilent = false;
  pyth.says({ SUI: 3.5 });
  await refresh(feed);
  expect(warned).toEqual([{ coinType: IKA.coinType, source: "pyth" }]);
});
