import { once } from "node:events";
import { request } from "node:http";
import { connect, constants } from "node:http2";
import { create } from "@bufbuild/protobuf";
import { TimestampSchema } from "@bufbuild/protobuf/wkt";
import { afterEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../../src/service/platform/errors/service-error.ts";
import { isHeartbeat } from "../../../../src/transport/rest/reply-messages.ts";
import { createLatch } from "../fake-services.ts";
import { Parameters } from "./gallery.ts";
import { type Fields, type Handler, startGallery } from "./start-gallery.ts";

let server: Awaited<ReturnType<typeof startGallery>>;
afterEach(() => server.close());

const change = (text: string, cursor = "") => ({ change: { text }, cursor });
const time = create(TimestampSchema, { seconds: 1n });
const EVENTS = { accept: "text/event-stream" };

/** Starts a watch that yields these messages, and throws an error that is among them. */
async function startWatch(...items: readonly (object | Error)[]) {
  const seen: Fields[] = [];
  const watch: Handler = async function* (message) {
    seen.push(message);
    for (const item of items) {
      if (item instanceof Error) throw item;
      yield item;
    }
  };
  server = await startGallery({ watch });
  return seen;
}

describe("a stream as server-sent events", () => {
  it("has the messages with their cursors as ids, and heartbeats as comments", async () => {
    await startWatch(
      change("a", "1"),
      { cursor: "2" },
      { time },
      {},
      { ...change("é\n"), time },
      change("c", "x\ny"),
    );
    const { status, headers, text } = await server.send("GET", "/watch", { headers: EVENTS });
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    expect(text.split("\n\n")).toEqual([
      "retry: 2000",
      'id: 1\ndata: {"change":{"text":"a"},"cursor":"1"}',
      ": heartbeat",
      ": heartbeat",
      ": heartbeat",
      'data: {"change":{"text":"é\\n"},"cursor":"","time":"1970-01-01T00:00:01Z"}',
      'data: {"change":{"text":"c"},"cursor":"x\\ny"}',
      "",
    ]);
  });

  it("treats an empty message as a heartbeat only if its type has a cursor", () => {
    expect(isHeartbeat(Parameters, create(Parameters))).toBe(false);
  });

  it("can contain one field of the messages", async () => {
    await startWatch(change("a", "1"));
    const { text } = await server.send("GET", "/watch/changes", { headers: EVENTS });
    expect(text).toBe('retry: 2000\n\nid: 1\ndata: {"text":"a"}\n\n');
  });

  it("resumes after Last-Event-ID, unless the query has a cursor", async () => {
    const seen = await startWatch(change("a"));
    const headers = { ...EVENTS, "last-event-id": Buffer.from("zwölf").toString("latin1") };
    await server.send("GET", "/watch?name=n", { headers });
    expect(seen.at(-1)).toMatchObject({ cursor: "zwölf", name: "n" });
    await server.send("GET", "/watch?cursor=3", { headers });
    expect(seen.at(-1)).toMatchObject({ cursor: "3" });
    await server.send("GET", "/watch", { headers: { "last-event-id": "7" } });
    expect(seen.at(-1)).toMatchObject({ cursor: "" });
  });

  it("reports a failure after its first message in-band", async () => {
    await startWatch(change("a"), new ServiceError("DWALLET_NOT_FOUND", "it is gone"));
    const { status, text } = await server.send("GET", "/watch", { headers: EVENTS });
    expect(status).toBe(200);
    const [, , failure = ""] = text.split("\n\n");
    const [event, data = ""] = failure.split("\n");
    expect(event).toBe("event: error");
    expect(JSON.parse(data.replace("data: ", ""))).toMatchObject({ code: 5, message: "it is gone" });
    expect(server.calls.at(-1)).toMatchObject({ code: 5 });
  });

  it("without messages is 204, so that its caller does not reconnect", async () => {
    await startWatch();
    const { status, text, headers } = await server.send("GET", "/watch", { headers: EVENTS });
    expect([status, text, headers.get("content-type")]).toEqual([204, "", null]);
  });
});

describe("a stream as lines of JSON", () => {
  it("has one message per line, including heartbeats", async () => {
    await startWatch(change("a\n", "1"), { cursor: "2" });
    const { headers, text } = await server.send("GET", "/watch");
    expect(headers.get("content-type")).toBe("application/x-ndjson");
    expect(headers.get("cache-control")).toBe("no-store");
    expect(text).toBe('{"change":{"text":"a\\n"},"cursor":"1"}\n{"cursor":"2"}\n');
  });

  it("reports a failure after its first message in-band", async () => {
    await startWatch(change("a"), new ServiceError("DWALLET_NOT_FOUND", "it is gone"));
    const { text } = await server.send("GET", "/watch");
    const [, failure = ""] = text.trimEnd().split("\n");
    expect(JSON.parse(failure)).toMatchObject({ error: { code: 5, message: "it is gone" } });
  });

  it("without messages is empty", async () => {
    await startWatch();
    const { status, text } = await server.send("GET", "/watch");
    expect([status, text]).toEqual([200, ""]);
  });
});

describe("a stream", () => {
  it.each([
    ["*/*", "application/x-ndjson"],
    ["application/x-ndjson", "application/x-ndjson"],
    ["application/*", "application/x-ndjson"],
    ["text/*", "text/event-stream"],
    ["Text/Event-Stream", "text/event-stream"],
    ["text/event-stream, */*", "application/x-ndjson"],
    ["text/event-stream, */*;q=0.1", "text/event-stream"],
    ["application/x-ndjson;q=0.5, text/event-stream;q=0.6", "text/event-stream"],
    ["application/x-ndjson;q=0, */*", "text/event-stream"],
  ])("for a caller that accepts %s is %s", async (accept, type) => {
    await startWatch(change("a"));
    const { headers } = await server.send("GET", "/watch", { headers: { accept } });
    expect(headers.get("content-type")).toBe(type);
  });

  it.each(["application/json", "text/html", "*/*;q=0", "text/event-stream;q=0"])(
    "for a caller that accepts %s is 406, and the method does not run",
    async (accept) => {
      const seen = await startWatch(change("a"));
      const reply = await server.send("GET", "/watch", { headers: { accept } });
      expect(reply).toMatchObject({ status: 406, failure: { reason: "NOT_ACCEPTABLE" } });
      expect(seen).toEqual([]);
    },
  );

  it.each([EVENTS, { accept: "*/*" }])(
    "that fails before its first message has a status: %j",
    async (headers) => {
      await startWatch(new ServiceError("DWALLET_NOT_FOUND", "it is gone"));
      const reply = await server.send("GET", "/watch", { headers });
      expect(reply).toMatchObject({ status: 404, failure: { reason: "DWALLET_NOT_FOUND" } });
    },
  );

  it("answers HEAD with the head of GET", async () => {
    await startWatch(change("a"));
    for (const headers of [EVENTS, { accept: "*/*" }]) {
      const [get, head] = [
        await server.send("GET", "/watch", { headers }),
        await server.send("HEAD", "/watch", { headers }),
      ];
      expect([head.status, head.text]).toEqual([get.status, ""]);
      expect(head.headers.get("content-type")).toBe(get.headers.get("content-type"));
    }
  });

  it("is sent message by message", async () => {
    const latch = createLatch();
    server = await startGallery({
      watch: async function* () {
        yield change("a");
        await latch.wait();
        yield change("b");
      },
    });
    const reply = await fetch(`${server.url}/watch`);
    const reader = (reply.body as ReadableStream<Uint8Array>).getReader();
    const first = await reader.read();
    expect(Buffer.from(first.value ?? []).toString()).toContain('"a"');
    latch.open();
    expect(Buffer.from((await reader.read()).value ?? []).toString()).toContain('"b"');
    expect((await reader.read()).done).toBe(true);
  });

  it.each(["1.1", "2"])(
    "aborts its handler when the peer over HTTP/%s leaves while it waits",
    async (version) => {
      const ended = createLatch();
      const aborted = createLatch();
      server = await startGallery({
        watch: async function* (_message, { signal }) {
          try {
            yield change("a");
            await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
            void aborted.wait();
          } finally {
            void ended.wait();
          }
        },
      });
      if (version === "2") {
        const session = connect(server.url);
        const stream = session.request({ ":path": "/watch", ...EVENTS });
        await once(stream, "data");
        stream.close(constants.NGHTTP2_CANCEL);
        session.close();
      } else {
        const call = request(`${server.url}/watch`, { headers: EVENTS });
        call.on("error", () => {});
        call.end();
        const [reply] = await once(call, "response");
        await once(reply, "data");
        reply.destroy();
      }
      await aborted.entered;
      await ended.entered;
    },
  );

  it("aborts its handler when the peer leaves while the connection is full", async () => {
    const ended = createLatch();
    server = await startGallery({
      watch: async function* () {
        try {
          for (;;) yield change("x".repeat(64 * 1024));
        } finally {
          void ended.wait();
        }
      },
    });
    const call = request(`${server.url}/watch`);
    call.on("error", () => {});
    call.end();
    const [reply] = await once(call, "response");
    // The caller does not read, so the connection fills up.
    await once(reply, "readable");
    reply.destroy();
    await ended.entered;
  });
});
