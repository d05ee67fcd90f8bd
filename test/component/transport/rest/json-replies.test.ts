import { request } from "node:http";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import {
  chooseEncoding,
  compressReply,
  parsePreferences,
} from "../../../../src/transport/rest/negotiate-reply.ts";
import { type Handler, startGallery } from "./start-gallery.ts";

let server: Awaited<ReturnType<typeof startGallery>> | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

const long: Handler = (_message, { responseHeader }) => {
  responseHeader.set("etag", '"v1"');
  return { stringValue: "é".repeat(2000) };
};

/** A reply whose octets are not decoded. */
async function raw(url: string, method: string, headers: Record<string, string>) {
  const call = request(url, { method, headers });
  call.end();
  const reply = await new Promise<import("node:http").IncomingMessage>((resolve) =>
    call.on("response", resolve),
  );
  const chunks: Buffer[] = [];
  for await (const chunk of reply) chunks.push(chunk as Buffer);
  return { status: reply.statusCode, headers: reply.headers, octets: Buffer.concat(chunks) };
}

describe("a reply in JSON", () => {
  it.each([
    "application/json",
    "*/*",
    "application/*",
    "",
    "text/html, */*;q=0.1",
    "application/json; charset=utf-8",
  ])("is sent to a caller that accepts %j", async (accept) => {
    server = await startGallery();
    const reply = await raw(`${server.url}/query`, "GET", { accept });
    expect([reply.status, reply.headers["content-type"]]).toEqual([200, "application/json"]);
  });

  it.each(["text/html", "application/json;q=0", "application/json;q=0, */*", "text/event-stream"])(
    "is 406 for a caller that accepts %j, and the method does not run",
    async (accept) => {
      let runs = 0;
      server = await startGallery({
        query: (message) => {
          runs++;
          return message;
        },
      });
      const reply = await server.send("GET", "/query", { headers: { accept } });
      expect(reply).toMatchObject({ status: 406, failure: { reason: "NOT_ACCEPTABLE" } });
      expect(reply.failure.message).toContain("application/json");
      expect(runs).toBe(0);
    },
  );

  it.each([
    ["br", brotliDecompressSync],
    ["gzip", gunzipSync],
  ])("that is long is compressed as %s, for GET and HEAD alike", async (encoding, decompress) => {
    server = await startGallery({ query: long });
    const get = await raw(`${server.url}/query`, "GET", { "accept-encoding": encoding });
    expect(get.headers).toMatchObject({
      "content-encoding": encoding,
      vary: "accept-encoding",
      etag: 'W/"v1"',
      "content-length": String(get.octets.length),
      "content-type": "application/json",
    });
    expect(JSON.parse(decompress(get.octets).toString())).toMatchObject({ stringValue: "é".repeat(2000) });
    const head = await raw(`${server.url}/query`, "HEAD", { "accept-encoding": encoding });
    const { date: _, "x-request-id": _id, ...same } = get.headers;
    expect(head.headers).toMatchObject(same);
    expect(head.octets.length).toBe(0);
    const known = { "accept-encoding": encoding, "if-none-match": 'W/"v1"' };
    expect((await raw(`${server.url}/query`, "GET", known)).status).toBe(304);
  });

  it("that is long is not compressed without an accepted encoding, and varies by it", async () => {
    server = await startGallery({ query: long });
    const { headers } = await raw(`${server.url}/query`, "GET", {});
    expect([headers["content-encoding"], headers.vary, headers.etag]).toEqual([
      undefined,
      "accept-encoding",
      '"v1"',
    ]);
  });

  it("of a kibibyte or less is not compressed", async () => {
    for (const [size, encoding] of [
      [1024, null],
      [1025, "gzip"],
    ] as const) {
      const headers = new Headers();
      const body = await compressReply(new Uint8Array(size), "gzip", headers);
      expect(headers.get("content-encoding")).toBe(encoding);
      expect(body.length === size).toBe(encoding === null);
    }
  });

  it("is not compressed if the handler says no-transform", async () => {
    const headers = new Headers({ "cache-control": "private, no-transform" });
    expect(await compressReply(new Uint8Array(5000), "gzip", headers)).toHaveLength(5000);
  });
});

describe("accept-encoding", () => {
  it.each([
    ["gzip, br", "br"],
    ["br;q=0.5, gzip", "gzip"],
    ["*", "br"],
    ["*;q=0.5, br;q=0", "gzip"],
    ["x-gzip", "gzip"],
    ["GZIP", "gzip"],
    ["gzip;q=0", "identity"],
    ["identity, gzip;q=0.5", "identity"],
    ["identity;q=0.5, gzip", "gzip"],
    ["deflate, zstd", "identity"],
    ["", "identity"],
    [null, "identity"],
  ])("%j chooses %s", (header, encoding) => {
    expect(chooseEncoding(header)).toBe(encoding);
  });
});

describe("a list of preferences", () => {
  it("is parsed with its weights, and a malformed weight counts as 1", () => {
    expect(parsePreferences("a/b;level=1;q=0.25 , ,*/* ; Q=0, c;q=2, d;q=1.000, e;q=0.12345")).toEqual([
      { choice: "a/b", weight: 0.25 },
      { choice: "*/*", weight: 0 },
      { choice: "c", weight: 1 },
      { choice: "d", weight: 1 },
      { choice: "e", weight: 1 },
    ]);
  });
});
