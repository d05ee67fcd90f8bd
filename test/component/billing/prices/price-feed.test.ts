import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPriceFeed } from "../../../../src/billing/prices/price-feed.ts";
import { parseFeed } from "../../../../src/billing/prices/read-feed.ts";
import { systemClock } from "../../../../src/lifecycle/clock.ts";
import type { Database } from "../../../../src/store/database.ts";
import { newId } from "../../../../src/store/ids.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase, silentLog } from "../../../support/database.ts";
import { IKA, SUI } from "../../../support/deposits.ts";

const MAX_AGE_MS = 60_000;
let database: Database;
let server: Server;
let url: string;
let network: string;
let nowMs: number;
let answer: { status?: number; headers?: Record<string, string>; body: string };

beforeAll(async () => {
  database = await openTestDatabase();
  server = createServer((_request, response) => {
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  await new Promise((resolve) => server.close(resolve));
  await database.close();
});
beforeEach(() => {
  network = newId();
  nowMs = 1_000_000_000;
});

const feedOf = () =>
  createPriceFeed({
    clock: systemClock,
    ...{ url, network, database, coins: [SUI, IKA], log: silentLog },
    ...{ refreshMs: 1_000, maxAgeMs: MAX_AGE_MS, maxStepPercent: 20, now: () => nowMs },
  });
const says = (prices: object, timeMs = nowMs) => {
  answer = { body: JSON.stringify({ time: new Date(timeMs).toISOString(), prices }) };
};
const refresh = (feed: ReturnType<typeof feedOf>) => feed.refresh(new AbortController().signal);

describe("a price feed", () => {
  it("gives prices by symbol or coin type, with the feed's own time, until they are too old", async () => {
    const feed = feedOf();
    expect(feed.priceOf(SUI.coinType)).toBeUndefined();
    says({ SUI: "3.5", [IKA.coinType]: 0.02, OTHER: "none" }, nowMs - 10_000);
    await refresh(feed);
    const time = new Date(nowMs - 10_000);
    expect(feed.priceOf(SUI.coinType)).toEqual({ picoUsd: 3_500_000_000_000n, time });
    expect(feed.priceOf(IKA.coinType)).toEqual({ picoUsd: 20_000_000_000n, time });
    nowMs += MAX_AGE_MS - 10_000;
    expect(feed.priceOf(SUI.coinType)).toBeDefined();
    nowMs += 1;
    expect(feed.priceOf(SUI.coinType)).toBeUndefined();
  });

  it("takes no price that is old when it comes, or of a time to come", async () => {
    const feed = feedOf();
    for (const timeMs of [nowMs - MAX_AGE_MS - 1, nowMs + 120_000]) {
      says({ SUI: "3.5", IKA: "1" }, timeMs);
      await refresh(feed);
      expect(feed.priceOf(SUI.coinType)).toBeUndefined();
    }
  });

  it("doubts a jump after a restart as before, and so does another replica", async () => {
    says({ SUI: "3.5", IKA: "1" });
    await refresh(feedOf());
    nowMs += 1_000;
    says({ SUI: "35", IKA: "1" });
    const restarted = feedOf();
    await refresh(restarted);
    expect(restarted.priceOf(SUI.coinType)?.picoUsd).toBe(3_500_000_000_000n);
    expect(restarted.priceOf(IKA.coinType)?.time).toEqual(new Date(nowMs));
    nowMs += MAX_AGE_MS;
    says({ SUI: "35", IKA: "1" });
    await refresh(restarted);
    expect(restarted.priceOf(SUI.coinType)?.picoUsd).toBe(35_000_000_000_000n);
  });

  it.each([
    ["another status", { status: 500, body: "{}" }],
    ["a redirect", { status: 302, headers: { location: "https://example.com" }, body: "" }],
    ["too much", { body: JSON.stringify({ padding: "x".repeat(70_000) }) }],
    ["no JSON", { body: "<html>" }],
    ["no time", { body: JSON.stringify({ prices: {} }) }],
    ["no prices", { body: JSON.stringify({ time: "2026-01-01T00:00:00Z" }) }],
  ])("keeps what it has when the feed answers with %s", async (_, wrong) => {
    const feed = feedOf();
    says({ SUI: "3.5", IKA: "1" });
    await refresh(feed);
    answer = wrong;
    await expect(refresh(feed)).rejects.toThrow();
    expect(feed.priceOf(SUI.coinType)?.picoUsd).toBe(3_500_000_000_000n);
  });

  it.each(["0", "-1", "1e-7", "", "Infinity", null, "1000001", "0.0000000000001"])(
    "takes %j for no price",
    (value) => {
      expect(parseFeed({ time: "2026-01-01T00:00:00Z", prices: { SUI: value } }).size).toBe(0);
    },
  );
});
