import { Code, ConnectError, createRouterTransport } from "@connectrpc/connect";
import { beforeEach, describe, expect, it } from "vitest";
import { Events } from "../../../../gen/client/tss/v1/events_pb.ts";
import { createClient } from "../../../../src/client/sdk/client.ts";
import { serviceError } from "./fake-service.ts";

/** The events of the fake service; the cursor of an event is its number. */
const SUBJECTS = ["a", "b", "c", "d", "e"];
const eventOf = (index: number) => ({ subject: SUBJECTS[index]!, cursor: String(index + 1) });
/** The cursors that the watches began with, in order. */
const begun: string[] = [];
/** After how many events each watch breaks, and how. */
let breaks: (readonly [number, () => Error | undefined])[] = [];

beforeEach(() => {
  begun.length = 0;
  breaks = [];
});

const transport = createRouterTransport(({ service }) => {
  service(Events, {
    listEvents({ cursor, pageSize }) {
      if (cursor === "lost") throw serviceError(Code.OutOfRange, "CURSOR_LOST");
      const from = Number(cursor);
      const to = Math.min(from + (pageSize || 2), SUBJECTS.length);
      const events = SUBJECTS.slice(from, to).map((_, index) => eventOf(from + index));
      return { events, cursor: String(to), hasMore: to < SUBJECTS.length };
    },
    async *watchEvents({ cursor }) {
      begun.push(cursor);
      const [count, end] = breaks.shift() ?? [SUBJECTS.length, () => undefined];
      yield { cursor: cursor === "" ? "0" : cursor };
      for (let index = Number(cursor); index < Math.min(Number(cursor) + count, SUBJECTS.length); index++)
        yield { event: eventOf(index), cursor: String(index + 1) };
      const error = end();
      if (error !== undefined) throw error;
    },
  });
});
const client = createClient({
  baseUrl: "http://service.invalid",
  network: "testnet",
  apiKey: "key",
  transport,
});

async function take(count: number, events: AsyncIterable<{ readonly subject: string }>): Promise<string[]> {
  const subjects: string[] = [];
  for await (const { subject } of events) if (subjects.push(subject) === count) break;
  return subjects;
}

describe("events.list", () => {
  it("yields every event up to the newest one, page by page, from a cursor", async () => {
    expect(await take(9, client.events.list())).toEqual(SUBJECTS);
    expect(await take(9, client.events.list({ cursor: "3", pageSize: 1 }))).toEqual(["d", "e"]);
  });

  it("rejects with CURSOR_LOST if events after the cursor are gone", async () => {
    await expect(take(1, client.events.list({ cursor: "lost" }))).rejects.toMatchObject({
      reason: "CURSOR_LOST",
    });
  });
});

describe("events.watch", () => {
  it("continues after the last event when the watch breaks, reaches its time limit or just ends", async () => {
    breaks = [
      [1, () => new ConnectError("connection reset", Code.Unavailable)],
      [2, () => serviceError(Code.Unavailable, "WATCH_ENDED", { retryAfterMs: 0 })],
      [1, () => undefined],
    ];
    expect(await take(5, client.events.watch())).toEqual(SUBJECTS);
    expect(begun).toEqual(["", "1", "3", "4"]);
  });

  it("rejects with what the service refuses", async () => {
    breaks = [[0, () => serviceError(Code.OutOfRange, "CURSOR_LOST")]];
    await expect(take(1, client.events.watch({ cursor: "2" }))).rejects.toMatchObject({
      reason: "CURSOR_LOST",
    });
    expect(begun).toEqual(["2"]);
  });

  it("ends with the reason of its signal", async () => {
    const stop = new AbortController();
    const reading = (async () => {
      for await (const { subject } of client.events.watch({}, { signal: stop.signal }))
        if (subject === "e") stop.abort(new Error("enough"));
    })();
    await expect(reading).rejects.toThrow("enough");
  });
});
