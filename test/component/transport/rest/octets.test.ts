import { gzipSync } from "node:zlib";
import fc from "fast-check";
import { afterEach, describe, expect, it } from "vitest";
import { ServiceError } from "../../../../src/service/platform/errors/service-error.ts";
import { chooseRange } from "../../../../src/transport/rest/reply-octets.ts";
import { createLatch } from "../fake-services.ts";
import { openRaw, rawRequest } from "../raw-socket.ts";
import { type Fields, type Handler, startGallery } from "./start-gallery.ts";

let server: Awaited<ReturnType<typeof startGallery>>;
afterEach(() => server.close());

const BODY = Buffer.from("0123456789abcdefghij");
const ETAG = '"v1"';

/** A download in chunks of seven octets. */
const download: Handler = async function* (_message, { responseHeader }) {
  responseHeader.set("content-length", String(BODY.length));
  responseHeader.set("etag", ETAG);
  for (let at = 0; at < BODY.length; at += 7) {
    yield { contentType: at === 0 ? "image/png" : "", data: BODY.subarray(at, at + 7) };
  }
};

describe("octets in a request", () => {
  it("reach the method unchanged, with their type", async () => {
    const seen: Fields[] = [];
    server = await startGallery({
      upload: (message) => {
        seen.push(message);
        return { contentType: "text/plain", data: Buffer.from("done") };
      },
      attach: (message) => {
        seen.push(message);
        return message;
      },
    });
    const body = Uint8Array.from([0, 255, 128]);
    const headers = { "content-type": "image/png; x=1" };
    const { text, headers: replied } = await server.send("POST", "/octets", { body, headers });
    expect(seen.at(-1)).toMatchObject({ contentType: "image/png; x=1", data: body });
    expect([text, replied.get("content-type"), replied.get("content-length")]).toEqual([
      "done",
      "text/plain",
      "4",
    ]);
    const attached = await server.send("PUT", "/attachments/a", { body, headers });
    expect(seen.at(-1)).toMatchObject({ name: "a", file: { contentType: "image/png; x=1", data: body } });
    expect(attached.octets.equals(Buffer.from(body))).toBe(true);
    await server.send("PUT", "/attachments/a", { body });
    expect(seen.at(-1)).toMatchObject({ file: { contentType: "application/octet-stream" } });
    await server.send("PUT", "/attachments/a");
    expect(seen.at(-1)).not.toHaveProperty("file");
  });

  it("that are compressed, too many or sent with a query are refused", async () => {
    server = await startGallery();
    const gzip = { "content-encoding": "gzip", "content-type": "text/plain" };
    const zipped = await server.send("POST", "/octets", { body: gzipSync("a"), headers: gzip });
    expect(zipped).toMatchObject({ status: 415, failure: { reason: "UNSUPPORTED_MEDIA_TYPE" } });
    const large = await server.send("POST", "/octets", { body: Buffer.alloc(257 * 1024) });
    expect(large).toMatchObject({ status: 413, failure: { reason: "BODY_TOO_LARGE" } });
    const query = await server.send("POST", "/octets?data=AQ", { body: Buffer.from("a") });
    expect(query.failure.fields).toEqual(["data"]);
  });
});

describe("octets in a reply", () => {
  it("have the type of the first message, or the generic one", async () => {
    server = await startGallery({ download });
    const whole = await server.send("GET", "/downloads/a");
    expect(whole.octets.equals(BODY)).toBe(true);
    expect(Object.fromEntries(whole.headers)).toMatchObject({
      "content-type": "image/png",
      "content-length": "20",
      "accept-ranges": "bytes",
      etag: ETAG,
    });
    await server.close();
    server = await startGallery({ download: async function* () {} });
    const none = await server.send("GET", "/downloads/a");
    expect([none.status, none.text, none.headers.get("content-type")]).toEqual([
      200,
      "",
      "application/octet-stream",
    ]);
  });

  it("are sent to every caller that accepts their type", async () => {
    server = await startGallery({ download });
    for (const accept of [
      "application/json",
      "text/event-stream",
      "image/*;q=0.1",
      "image/*;q=0, image/png",
    ]) {
      expect((await server.send("GET", "/downloads/a", { headers: { accept } })).status).toBe(200);
    }
    for (const accept of ["image/png;q=0", "image/*;q=0, */*", "*/*;q=0", "image/png;q=0.0, image/*"]) {
      const reply = await server.send("GET", "/downloads/a", { headers: { accept } });
      expect(reply).toMatchObject({ status: 406, failure: { reason: "NOT_ACCEPTABLE" } });
    }
  });

  it("are not compressed", async () => {
    server = await startGallery({ upload: () => ({ data: Buffer.alloc(5000), contentType: "text/plain" }) });
    const headers = { "accept-encoding": "gzip, br" };
    const reply = await server.send("POST", "/octets", { headers });
    expect([reply.octets.length, reply.headers.get("content-encoding")]).toEqual([5000, null]);
  });

  it("that are fewer than announced end with a broken connection, and octets beyond the length are not sent", async () => {
    const made: Handler = async function* ({ name }, { responseHeader }) {
      responseHeader.set("content-length", "20");
      yield { data: Buffer.alloc(10) };
      yield { data: Buffer.alloc(Number(name)) };
    };
    server = await startGallery({ download: made });
    await expect(server.send("GET", "/downloads/9")).rejects.toThrow();
    // The caller may or may not see that the connection breaks afterwards.
    const longer = await server.send("GET", "/downloads/11").catch(() => undefined);
    expect(longer?.octets.length ?? 20).toBe(20);
    await server.close();
    const ours = server.failures.filter(({ reason }) => reason === "INTERNAL");
    expect(ours.map(({ detail }) => detail)).toEqual([
      "the handler announced 20 octets and produced 19",
      "the handler announced 20 octets and produced 21",
    ]);
  });

  it("that fail end with a broken connection, or with a status if none was sent", async () => {
    const gone = new ServiceError("PARAMETERS_NOT_FOUND", "they are gone");
    server = await startGallery({
      download: async function* ({ name }) {
        if (name === "late") yield { data: Buffer.alloc(10) };
        throw gone;
      },
    });
    await expect(server.send("GET", "/downloads/late")).rejects.toThrow();
    expect((await server.send("GET", "/downloads/early")).status).toBe(404);
  });
});

describe("a range of octets", () => {
  it.each([
    ["bytes=0-0", 0, 1],
    ["bytes=3-9", 3, 10],
    ["bytes=6-7", 6, 8],
    ["bytes=7-13", 7, 14],
    ["bytes=18-", 18, 20],
    ["bytes=5-1000000000000000000000", 5, 20],
    ["bytes=-3", 17, 20],
    ["bytes=-100", 0, 20],
    ["BYTES=0-19", 0, 20],
  ])("%s is octets %d to %d", async (range, start, end) => {
    server = await startGallery({ download });
    const { status, headers, octets } = await server.send("GET", "/downloads/a", { headers: { range } });
    expect(status).toBe(206);
    expect(octets.toString()).toBe(BODY.subarray(start, end).toString());
    expect(Object.fromEntries(headers)).toMatchObject({
      "content-range": `bytes ${start}-${end - 1}/20`,
      "content-length": String(end - start),
      "content-type": "image/png",
      etag: ETAG,
    });
  });

  it.each(["bytes=20-", "bytes=99-100", "bytes=-0"])("%s is 416 with the length", async (range) => {
    server = await startGallery({ download });
    const reply = await server.send("GET", "/downloads/a", { headers: { range } });
    expect(reply).toMatchObject({ status: 416, failure: { reason: "RANGE_NOT_SATISFIABLE" } });
    expect(reply.headers.get("content-range")).toBe("bytes */20");
  });

  it.each([
    ["several", { range: "bytes=0-1,5-6" }],
    ["another unit", { range: "items=0-1" }],
    ["an end before its start", { range: "bytes=5-3" }],
    ["neither end", { range: "bytes=-" }],
    ["another tag", { range: "bytes=0-1", "if-range": '"v2"' }],
    ["a weak tag", { range: "bytes=0-1", "if-range": 'W/"v1"' }],
    ["a date", { range: "bytes=0-1", "if-range": "Sat, 01 Jan 2022 00:00:00 GMT" }],
  ])("with %s is ignored, and the reply is whole", async (_name, headers) => {
    server = await startGallery({ download });
    const reply = await server.send("GET", "/downloads/a", { headers });
    expect([reply.status, reply.octets.length, reply.headers.get("content-range")]).toEqual([200, 20, null]);
  });

  it("applies only to the caller's tag", async () => {
    server = await startGallery({ download });
    const headers = { range: "bytes=0-1", "if-range": ETAG };
    expect((await server.send("GET", "/downloads/a", { headers })).status).toBe(206);
    const fresh = { ...headers, "if-none-match": ETAG };
    expect((await server.send("GET", "/downloads/a", { headers: fresh })).status).toBe(304);
  });

  it("is ignored for HEAD, for uploads, and for octets without a tag or a length", async () => {
    const headers = { range: "bytes=0-1" };
    server = await startGallery({ download, upload: once });
    const head = await server.send("HEAD", "/downloads/a", { headers });
    expect([head.status, head.headers.get("content-length"), head.headers.get("accept-ranges")]).toEqual([
      200,
      "20",
      "bytes",
    ]);
    expect((await server.send("POST", "/octets", { headers })).status).toBe(200);
    await server.close();
    for (const given of [
      { "content-length": "20" },
      { etag: ETAG },
      { "content-length": "20", etag: 'W/"v1"' },
    ]) {
      server = await startGallery({
        download: async function* (_message, { responseHeader }) {
          for (const [name, value] of Object.entries(given)) responseHeader.set(name, value);
          yield { data: BODY };
        },
      });
      const reply = await server.send("GET", "/downloads/a", { headers });
      expect([reply.status, reply.headers.get("accept-ranges")]).toEqual([200, null]);
      await server.close();
    }
  });

  it("of a unary reply needs only a tag", async () => {
    server = await startGallery({
      attach: (_message, { responseHeader }) => {
        responseHeader.set("etag", ETAG);
        return { file: { data: BODY, contentType: "image/png" } };
      },
    });
    const reply = await server.send("GET", "/attachments/a", { headers: { range: "bytes=-2" } });
    expect([reply.status, reply.text]).toEqual([206, "ij"]);
  });

  it("keeps the connection for the next request, as does every reply without a body", async () => {
    server = await startGallery({ download });
    const raw = await openRaw(server.port);
    const ask = (method: string, headers: Record<string, string> = {}) =>
      raw.socket.write(rawRequest(method, "/downloads/a", headers));
    ask("HEAD");
    ask("GET", { "if-none-match": ETAG });
    ask("OPTIONS");
    ask("GET", { range: "bytes=7-8" });
    ask("GET", { range: "bytes=20-" });
    ask("GET", { connection: "close" });
    const text = await raw.closed();
    expect(text.match(/HTTP\/1\.1 \d+/g)?.map((line) => line.slice(9))).toEqual([
      "200",
      "304",
      "204",
      "206",
      "416",
      "200",
    ]);
    expect(text).toContain("\r\n\r\n78HTTP/1.1 416");
    expect(text.endsWith(BODY.toString())).toBe(true);
  });

  it("stops its handler once it is complete", async () => {
    const ended = createLatch();
    server = await startGallery({
      download: async function* (_message, { responseHeader }) {
        responseHeader.set("content-length", "1000000000000");
        responseHeader.set("etag", ETAG);
        try {
          for (;;) yield { data: BODY };
        } finally {
          void ended.wait();
        }
      },
    });
    const reply = await server.send("GET", "/downloads/a", { headers: { range: "bytes=10-29" } });
    expect(reply.text).toBe("abcdefghij0123456789");
    await ended.entered;
    expect(server.calls.at(-1)).toMatchObject({ code: undefined });
  });

  it("never exceeds the body", () => {
    const digits = fc.option(fc.nat(30).map(String), { nil: "" });
    fc.assert(
      fc.property(digits, digits, fc.nat(25), (first, last, size) => {
        const choice = chooseRange(`bytes=${first}-${last}`, null, ETAG, size);
        if (choice.kind !== "part") return;
        const { start, end } = choice.range;
        expect(start).toBeGreaterThanOrEqual(0);
        expect(end).toBeGreaterThan(start);
        expect(end).toBeLessThanOrEqual(size);
        if (first !== "") expect(start).toBe(Number(first));
        if (first === "") expect(end - start).toBe(Math.min(Number(last), size));
      }),
    );
  });
});

/** A reply that would support ranges if the method were GET. */
const once: Handler = (_message, { responseHeader }) => {
  responseHeader.set("etag", ETAG);
  return { data: BODY, contentType: "image/png" };
};
