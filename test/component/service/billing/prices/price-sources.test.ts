/** The sources of prices, each against a server that answers in its documented form, or in another one. */
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import {
  createCoinbaseReader,
  createJsonFeedReader,
  createPythReader,
  type PriceReader,
} from "../../../../../src/service/billing/prices/price-readers.ts";
import { systemClock } from "../../../../../src/service/platform/lifecycle/clock.ts";

const SUI_FEED = "23d7315113f5b1d3ba7a83604c44b94d79f4fd69af77f804fc7f920a6dc65744";
const IKA_FEED = "2b529621fa6e2c8429f623ba705572aa64175d7768365ef829df6a12c9f365f4";
const SECONDS = 1_790_000_000;
const TIME = new Date(SECONDS * 1000);

let server: Server;
let url: string;
let answer: { status?: number; headers?: Record<string, string>; body: string } | "nothing";
const asked: IncomingMessage[] = [];

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request);
    if (answer !== "nothing") response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});
beforeEach(() => {
  asked.length = 0;
});

const json = (value: unknown) => {
  answer = { body: JSON.stringify(value) };
};
const read = (reader: PriceReader) => reader.read(new AbortController().signal);
const exact = (picoUsd: bigint) => ({ picoUsd, lowPicoUsd: picoUsd, highPicoUsd: picoUsd, time: TIME });

describe("Pyth's Hermes", () => {
  const reader = (more: { apiKey?: string; timeoutMs?: number } = {}) =>
    createPythReader({
      clock: systemClock,
      url: `${url}/hermes/`,
      apiKey: undefined,
      feedIds: new Map([
        ["SUI", SUI_FEED],
        ["IKA", IKA_FEED],
      ]),
      ...more,
    });
  const price = (more: object = {}) => ({
    price: "350000000",
    conf: "250000",
    expo: -8,
    publish_time: SECONDS,
    ...more,
  });
  const entry = (id: string, more: object = {}) => ({
    id,
    price: price(more),
    ema_price: price({ price: "1" }),
    metadata: { slot: 1, proof_available_time: SECONDS, prev_publish_time: SECONDS - 1 },
  });
  const answers = (...parsed: unknown[]) => json({ binary: { encoding: "hex", data: ["504e4155"] }, parsed });

  it("gives each coin's price between its confidence bounds, at its publish time", async () => {
    answers(entry(SUI_FEED), entry(`0x${IKA_FEED.toUpperCase()}`, { price: "2130001", conf: "1", expo: -9 }));
    expect(await read(reader())).toEqual(
      new Map([
        [
          "SUI",
          {
            picoUsd: 3_500_000_000_000n,
            lowPicoUsd: 3_497_500_000_000n,
            highPicoUsd: 3_502_500_000_000n,
            time: TIME,
          },
        ],
        [
          "IKA",
          { picoUsd: 2_130_001_000n, lowPicoUsd: 2_130_000_000n, highPicoUsd: 2_130_002_000n, time: TIME },
        ],
      ]),
    );
  });

  it("is called with the feeds' ids, and with the key as a bearer token", async () => {
    answers();
    await read(reader({ apiKey: "a-key" }));
    const { pathname, searchParams } = new URL(asked[0]!.url!, url);
    expect(pathname).toBe("/hermes/v2/updates/price/latest");
    expect(searchParams.getAll("ids[]")).toEqual([SUI_FEED, IKA_FEED]);
    expect(asked[0]!.headers["authorization"]).toBe("Bearer a-key");
    await read(reader());
    expect(asked[1]!.headers).not.toHaveProperty("authorization");
  });

  it.each<[string, object, bigint]>([
    ["no exponent", { price: "4", conf: "0", expo: 0 }, 4_000_000_000_000n],
    ["a positive exponent", { price: "4", conf: "0", expo: 2 }, 400_000_000_000_000n],
    [
      "more digits than a price keeps",
      { price: "3500000000000999999", conf: "0", expo: -18 },
      3_500_000_000_000n,
    ],
  ])("scales a price with %s", async (_, more, picoUsd) => {
    answers(entry(SUI_FEED, more));
    expect((await read(reader())).get("SUI")?.picoUsd).toBe(picoUsd);
  });

  it.each<[string, unknown]>([
    ["a negative price", price({ price: "-350000000" })],
    ["a price of zero", price({ price: "0", conf: "0" })],
    ["a number for text", price({ price: 350000000 })],
    ["NaN", price({ price: "NaN" })],
    ["a fraction for an integer", price({ price: "3.5" })],
    ["no confidence", price({ conf: undefined })],
    ["a confidence as wide as the price", price({ conf: "350000000" })],
    ["an exponent that is no integer", price({ expo: -8.5 })],
    ["an exponent out of range", price({ expo: -1000 })],
    ["a price beyond a million US dollars", price({ expo: 6 })],
    ["no time", price({ publish_time: undefined })],
    ["a time that is text", price({ publish_time: "now" })],
    ["nothing", undefined],
    ["null", null],
  ])("has no price of a coin with %s, and keeps the other coin's", async (_, wrong) => {
    answers({ id: SUI_FEED, price: wrong }, null, { id: 7 }, entry(IKA_FEED));
    expect([...(await read(reader())).keys()]).toEqual(["IKA"]);
  });

  it("has no price of a coin that the answer lacks", async () => {
    answers(entry(IKA_FEED));
    expect([...(await read(reader())).keys()]).toEqual(["IKA"]);
  });

  it("fails on an answer without parsed prices", async () => {
    json({ binary: {} });
    await expect(read(reader())).rejects.toThrow("parsed");
  });
});

describe("Coinbase Exchange", () => {
  const reader = () =>
    createCoinbaseReader({ clock: systemClock, url, products: new Map([["SUI", "SUI-USD"]]) });
  const ticker = (more: object = {}) => ({
    trade_id: 1,
    price: "3.5",
    size: "10",
    bid: "3.499",
    ask: "3.502",
    volume: "1000",
    time: TIME.toISOString(),
    ...more,
  });

  it("gives the last trade between bid and ask, at its time", async () => {
    json(ticker({ time: "2026-09-21T14:13:20.000000Z" }));
    expect(await read(reader())).toEqual(
      new Map([
        [
          "SUI",
          {
            picoUsd: 3_500_000_000_000n,
            lowPicoUsd: 3_499_000_000_000n,
            highPicoUsd: 3_502_000_000_000n,
            time: TIME,
          },
        ],
      ]),
    );
    expect(asked[0]!.url).toBe("/products/SUI-USD/ticker");
    expect(asked[0]!.headers["user-agent"]).toMatch(/./);
  });

  it("widens the bounds to a trade outside bid and ask", async () => {
    json(ticker({ price: "3.6" }));
    expect((await read(reader())).get("SUI")?.highPicoUsd).toBe(3_600_000_000_000n);
    json(ticker({ price: "3.4" }));
    expect((await read(reader())).get("SUI")?.lowPicoUsd).toBe(3_400_000_000_000n);
  });

  it.each<[string, object]>([
    ["no price", { price: undefined }],
    ["a price of zero", { price: "0" }],
    ["a price that is a number", { price: 3.5 }],
    ["NaN", { price: "NaN" }],
    ["no bid", { bid: undefined }],
    ["an empty book", { ask: "0" }],
    ["no time", { time: undefined }],
    ["a time that is none", { time: "yesterday" }],
  ])("has no price where the ticker has %s", async (_, wrong) => {
    json(ticker(wrong));
    expect((await read(reader())).size).toBe(0);
  });

  it("has no price if the ticker is not an object", async () => {
    json(null);
    expect((await read(reader())).size).toBe(0);
  });
});

describe.each<[string, (timeoutMs?: number) => PriceReader]>([
  [
    "Pyth",
    (timeoutMs) =>
      createPythReader({
        clock: systemClock,
        url,
        apiKey: "k",
        feedIds: new Map([["SUI", SUI_FEED]]),
        timeoutMs,
      }),
  ],
  [
    "Coinbase",
    (timeoutMs) =>
      createCoinbaseReader({ clock: systemClock, url, products: new Map([["SUI", "SUI-USD"]]), timeoutMs }),
  ],
  [
    "a feed",
    (timeoutMs) => createJsonFeedReader(`${url}/feed?key=hidden`, { clock: systemClock, timeoutMs }),
  ],
])("%s fails", (_name, reader) => {
  it.each<[string, Exclude<typeof answer, string>]>([
    ["another status", { status: 429, body: "{}" }],
    ["a redirect", { status: 302, headers: { location: "https://example.com" }, body: "" }],
    ["more than 64 KiB", { body: JSON.stringify({ padding: "x".repeat(70_000) }) }],
    ["text that is not JSON", { body: "<html>" }],
  ])("on %s, and does not show its URL", async (_, wrong) => {
    answer = wrong;
    const error = await read(reader()).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Error);
    expect(String(error)).not.toContain("hidden");
  });

  it("when the source does not answer in time", async () => {
    answer = "nothing";
    await expect(read(reader(20))).rejects.toMatchObject({ name: "TimeoutError" });
  });
});

describe("a feed", () => {
  it("gives prices by symbol or coin type, exactly", async () => {
    json({ time: TIME.toISOString(), prices: { SUI: "3.5", "0x2::a::A": 0.02 } });
    expect(await read(createJsonFeedReader(url, { clock: systemClock }))).toEqual(
      new Map([
        ["SUI", exact(3_500_000_000_000n)],
        ["0x2::a::A", exact(20_000_000_000n)],
      ]),
    );
  });

  it.each<[string, object]>([
    ["no time", { prices: {} }],
    ["no prices", { time: "2026-01-01T00:00:00Z" }],
  ])("fails on an answer with %s", async (_, wrong) => {
    json(wrong);
    await expect(read(createJsonFeedReader(url, { clock: systemClock }))).rejects.toThrow(
      "the price feed has no",
    );
  });

  it.each(["0", "-1", "1e-7", "", "Infinity", null, "1000001", "0.0000000000001"])(
    "has no price of a coin if it answers %j",
    async (value) => {
      json({ time: TIME.toISOString(), prices: { SUI: value } });
      expect((await read(createJsonFeedReader(url, { clock: systemClock }))).size).toBe(0);
    },
  );
});
