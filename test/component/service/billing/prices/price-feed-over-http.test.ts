/** The price feed with its real readers, against a server of which one source answers wrongly. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createPriceFeed } from "../../../../../src/service/billing/prices/price-feed.ts";
import {
  createCoinbaseReader,
  createJsonFeedReader,
  createPythReader,
  type PriceReader,
} from "../../../../../src/service/billing/prices/price-readers.ts";
import type { Clock } from "../../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { SUI } from "../../../../support/database/deposits.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const SUI_FEED = "23d7315113f5b1d3ba7a83604c44b94d79f4fd69af77f804fc7f920a6dc65744";
const MAX_AGE_MS = 60_000;
type Source = "pyth" | "coinbase";
type Answer = (response: ServerResponse) => void;

let database: Database;
let server: Server;
let url: string;
let nowMs: number;
let network: string;
/** What each source answers, by the beginning of its path. */
const answers = new Map<string, Answer>();
/** Ends the time limit of each open call, the newest last. */
const limits = new Set<() => void>();
/** Time stands still. A test ends the limit of a call. */
const clock: Clock = {
  now: () => 0,
  wallMs: () => nowMs,
  after(_, call) {
    limits.add(call);
    return () => limits.delete(call);
  },
};

beforeAll(async () => {
  database = await openTestDatabase();
  server = createServer((request, response) => {
    const path = request.url ?? "";
    const [, answer] = [...answers].find(([prefix]) => path.startsWith(prefix)) ?? [];
    if (answer) answer(response);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}, DATABASE_TIMEOUT_MS);
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await database.close();
});
beforeEach(() => {
  network = newId();
  nowMs = 1_790_000_000_000;
  answers.clear();
  limits.clear();
});

const json =
  (value: unknown): Answer =>
  (response) =>
    response.end(JSON.stringify(value));
const raw =
  (body: string): Answer =>
  (response) =>
    response.end(body);
const pyth = (price: object = {}, atMs = nowMs) => ({
  parsed: [
    {
      id: SUI_FEED,
      price: { price: "350000000", conf: "100000", expo: -8, publish_time: atMs / 1000, ...price },
    },
  ],
});
const ticker = (price = "3.5", atMs = nowMs) => ({
  price,
  bid: price,
  ask: price,
  time: new Date(atMs).toISOString(),
});
const PATHS = { pyth: "/v2/", coinbase: "/products/", own: "/own" };

/** Lets a source answer with a price of SUI, now. */
const say = (source: keyof typeof PATHS, usd: number) => {
  const time = new Date(nowMs).toISOString();
  const said = {
    pyth: () => pyth({ price: String(Math.round(usd * 1e8)) }),
    coinbase: () => ticker(String(usd)),
    own: () => ({ time, prices: { SUI: usd } }),
  };
  answers.set(PATHS[source], json(said[source]()));
};

/** Sends a head and the beginning of a body, and never its end. The time limit is over once the head has come. */
const trickle: Answer = (response) => {
  response.writeHead(200, { "x-trickles": "yes" }).write('{"parsed": [');
};
const overHttp: typeof fetch = async (input, init) => {
  const end = [...limits].at(-1);
  const response = await fetch(input, init);
  if (response.headers.has("x-trickles")) end?.();
  return response;
};

const readerOf = (source: keyof typeof PATHS): PriceReader => {
  if (source === "own") return createJsonFeedReader(`${url}/own`, { clock });
  if (source === "coinbase")
    return createCoinbaseReader({
      url: `${url}//`,
      products: new Map([["SUI", "SUI-USD"]]),
      clock,
      fetch: overHttp,
    });
  const feedIds = new Map([["SUI", SUI_FEED]]);
  return createPythReader({ url, apiKey: undefined, feedIds, clock, fetch: overHttp });
};
const feedOf = (...sources: (keyof typeof PATHS)[]) =>
  createPriceFeed({
    clock,
    log: silentLog,
    network,
    database,
    coins: [SUI],
    refreshMs: 1_000,
    maxAgeMs: MAX_AGE_MS,
    maxStepPercent: 20,
    maxSpreadPercent: 5,
    maxHourPercent: 30,
    maxDayPercent: 60,
    readers: sources.map(readerOf),
  });
/** A source that fails alone rejects the refresh. The price decides. */
const refresh = (feed: ReturnType<typeof feedOf>) =>
  feed.refresh(new AbortController().signal).catch(() => undefined);
const usdOf = (feed: ReturnType<typeof feedOf>) => {
  const price = feed.priceOf(SUI.coinType);
  return price && Number(price.picoUsd) / 1e12;
};

/** Answers that have no price. */
const PRICELESS: [Source, string, () => Answer][] = [
  ["pyth", "an old price", () => json(pyth({ price: "360000000" }, nowMs - MAX_AGE_MS - 1_000))],
  ["pyth", "a price of a time to come", () => json(pyth({ price: "360000000" }, nowMs + 120_000))],
  ["pyth", "an exponent below all prices", () => json(pyth({ expo: -19 }))],
  ["pyth", "NaN for text", () => json(pyth({ price: "NaN" }))],
  ["pyth", "NaN for a number", () => raw(JSON.stringify(pyth()).replace('"350000000"', "NaN"))],
  ["pyth", "a huge price", () => json(pyth({ price: "99999999999999999999" }))],
  ["pyth", "a huge exponent", () => raw(JSON.stringify(pyth()).replace("-8", "1e400"))],
  ["pyth", "a body that does not end", () => trickle],
  ["coinbase", "an old price", () => json(ticker("3.6", nowMs - MAX_AGE_MS - 1_000))],
  ["coinbase", "a price of a time to come", () => json(ticker("3.6", nowMs + 120_000))],
  ["coinbase", "a price with an exponent", () => json(ticker("36e-1"))],
  ["coinbase", "NaN for text", () => json(ticker("NaN"))],
  ["coinbase", "NaN for a number", () => raw(JSON.stringify(ticker()).replace('"3.5"', "NaN"))],
  ["coinbase", "a huge price", () => json(ticker("1000000.1"))],
  ["coinbase", "more than twelve decimals", () => json(ticker("3.6000000000001"))],
  ["coinbase", "a body that does not end", () => trickle],
  ...(["pyth", "coinbase"] as const).map((source): [Source, string, () => Answer] => [
    source,
    "a redirect to a price",
    () => {
      answers.set("/elsewhere", json(source === "pyth" ? pyth({ price: "360000000" }) : ticker("3.6")));
      return (response) => response.writeHead(302, { location: `${url}/elsewhere` }).end();
    },
  ]),
];

/** Answers with a price that is wrong, far from the right one. */
const MISPRICED: [Source, string, () => Answer][] = [
  ["pyth", "a price in cents", () => json(pyth({ price: "35000000000", conf: "0" }))],
  ["pyth", "an exponent that is too small", () => json(pyth({ expo: -9, conf: "0" }))],
  ["coinbase", "a price in cents", () => json(ticker("350"))],
  ["coinbase", "a price in thousands", () => json(ticker("0.0035"))],
];

describe("the price of a source over HTTP", () => {
  it.each([...PRICELESS, ...MISPRICED])(
    "of %s, stays and then expires while it answers with %s",
    async (source, _, wrong) => {
      const feed = feedOf(source);
      say(source, 3.5);
      await refresh(feed);
      expect(usdOf(feed)).toBe(3.5);
      const firstMs = nowMs;
      nowMs += 1_000;
      answers.set(PATHS[source], wrong());
      await refresh(feed);
      expect(feed.priceOf(SUI.coinType)).toEqual({ picoUsd: 3_500_000_000_000n, time: new Date(firstMs) });
      nowMs = firstMs + MAX_AGE_MS + 1;
      expect(usdOf(feed)).toBeUndefined();
    },
  );

  it.each(PRICELESS)(
    "of %s, does not exist on a fresh database when it begins with %s",
    async (source, _, wrong) => {
      const feed = feedOf(source);
      answers.set(PATHS[source], wrong());
      await refresh(feed);
      expect(usdOf(feed)).toBeUndefined();
      say(source, 3.5);
      await refresh(feed);
      expect(usdOf(feed)).toBe(3.5);
    },
  );

  it.each(MISPRICED)(
    "of %s, is the first one on a fresh database even when it begins with %s",
    async (source, _, wrong) => {
      const feed = feedOf(source);
      answers.set(PATHS[source], wrong());
      await refresh(feed);
      expect(usdOf(feed)).not.toBe(3.5);
      expect(usdOf(feed)).toBeGreaterThan(0);
    },
  );

  it("of Pyth, has twelve decimals of an answer that has more", async () => {
    const feed = feedOf("pyth");
    answers.set(PATHS.pyth, json(pyth({ price: "3500000000000999999", conf: "0", expo: -18 })));
    await refresh(feed);
    expect(feed.priceOf(SUI.coinType)?.picoUsd).toBe(3_500_000_000_000n);
  });
});

describe("the price of three sources over HTTP", () => {
  const others = (source: Source) => (source === "pyth" ? "coinbase" : "pyth");
  const begin = (source: Source, wrong: () => Answer) => {
    say(others(source), 3.5);
    say("own", 3.52);
    answers.set(PATHS[source], wrong());
    return feedOf("pyth", "coinbase", "own");
  };

  it.each(PRICELESS)("is that of the others while %s answers with %s", async (source, _, wrong) => {
    const feed = begin(source, wrong);
    await refresh(feed);
    expect(usdOf(feed)).toBe(3.51);
  });

  it.each(MISPRICED)(
    "does not exist while %s answers with %s, even on a fresh database",
    async (source, _, wrong) => {
      const feed = begin(source, wrong);
      await refresh(feed);
      expect(usdOf(feed)).toBeUndefined();
    },
  );
});
