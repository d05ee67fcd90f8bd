import { connect } from "node:http2";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Fields, type GalleryServer, startGallery } from "./start-gallery.ts";

let server: GalleryServer;
const seen: Fields[] = [];
beforeAll(async () => {
  const note = (message: Fields) => {
    seen.push(message);
    return message;
  };
  server = await startGallery({
    get: note,
    query: note,
    create: note,
    update: note,
    upload: note,
    attach: note,
  });
});
afterAll(() => server.close());

describe("a route", () => {
  it.each([
    ["GET", "/gallery/a%2Fb%20c", { stringValue: "a/b c" }],
    ["GET", "/gallery/a:restore", { stringValue: "a:restore" }],
    ["PURGE", "/gallery/a", { stringValue: "a" }],
    ["GET", "/halls/h/works/x%2Fy/z%20", { stringValue: "x%2Fy/z ", nested: { stringValue: "h" } }],
    ["GET", "/halls/h/works", { stringValue: "", nested: { stringValue: "h" } }],
    ["GET", "/anything", {}],
    ["BREW", "/anything", {}],
  ])("%s %s binds its variables", async (method, path, fields) => {
    // fetch refuses unknown methods.
    const session = connect(server.url);
    const stream = session.request({ ":method": method, ":path": path }, { endStream: true });
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    session.close();
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject(fields);
  });

  it("with a verb is a separate route", async () => {
    const { status, json } = await server.send("POST", "/gallery/a:restore", { body: { int32Value: 1 } });
    expect([status, json]).toEqual([200, expect.objectContaining({ stringValue: "a", int32Value: 1 })]);
  });

  it.each([
    ["GET", "/query/"],
    ["GET", "//query"],
    ["GET", "/halls//works/x"],
    ["GET", "/QUERY"],
    ["GET", "/gallery/"],
  ])("%s %s is not found", async (method, path) => {
    expect(await server.send(method, path)).toMatchObject({
      status: 404,
      failure: { reason: "ROUTE_NOT_FOUND" },
    });
  });

  it.each([
    ["/gallery/", true],
    ["/halls//works/x", true],
    ["/nowhere", false],
    ["/", false],
  ])("%s is refused with a hint at an empty part: %s", async (path, hasHint) => {
    const { failure } = await server.send("GET", path);
    expect(failure?.message).toBe(
      `there is no such route${hasHint ? "; a part of the path is empty, such as an id that is not set" : ""}`,
    );
  });

  it("names its methods for OPTIONS and for a wrong method", async () => {
    const options = await server.send("OPTIONS", "/attachments/a");
    expect([options.status, options.text]).toEqual([204, ""]);
    expect(options.headers.get("allow")).toBe("GET, PUT, HEAD, OPTIONS");
    const wrong = await server.send("DELETE", "/attachments/a");
    expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, PUT, HEAD, OPTIONS"]);
    expect((await server.send("OPTIONS", "/whole")).headers.get("allow")).toBe("POST, OPTIONS");
    expect((await server.send("OPTIONS", "/nothing")).status).toBe(404);
    expect((await server.send("HEAD", "/whole")).status).toBe(405);
  });
});

describe("a body", () => {
  it.each([
    ["POST", "/whole", { string_value: "a", int32Value: 1 }, { stringValue: "a", int32Value: 1 }],
    ["POST", "/whole", {}, {}],
    [
      "PATCH",
      "/nested/x?int32_value=5",
      { count: 1 },
      { int32Value: 5, nested: { stringValue: "x", count: 1 } },
    ],
    ["PATCH", "/nested/x", { count: 1, stringValue: "x" }, { nested: { stringValue: "x", count: 1 } }],
    ["PUT", "/scalar?string_value=a", 7, { int32Value: 7, stringValue: "a" }],
    ["PUT", "/list", ["a", "b"], { stringList: ["a", "b"] }],
    ["PUT", "/list", [], { stringList: [] }],
    ["PUT", "/members", { count: 1 }, { oneofNested: { count: 1 } }],
  ])("of %s %s is %j", async (method, path, body, fields) => {
    const { status, json } = await server.send(method, path, { body });
    expect([status, json]).toEqual([200, expect.objectContaining(nested(fields))]);
  });

  it("may be left out", async () => {
    expect(await server.send("PATCH", "/nested/x")).toMatchObject({ status: 200 });
    expect(seen.at(-1)).toMatchObject({ nested: { stringValue: "x" } });
  });

  it.each([
    ["POST", "/whole", "null", []],
    ["POST", "/whole", "[]", []],
    ["POST", "/whole", '"a"', []],
    ["POST", "/whole?int32_value=1", "{}", ["int32_value"]],
    ["PATCH", "/nested/x?nested.count=1", "{}", ["nested.count"]],
    ["PATCH", "/nested/x", '{"stringValue":"y"}', ["nested.string_value"]],
    ["PATCH", "/nested/x", '{"nope":1}', ["nested.nope"]],
    ["PUT", "/scalar", '"x"', ["int32_value"]],
    ["PUT", "/list", '["a",5]', ["string_list[1]"]],
    ["PUT", "/members?oneof_double_value=1", '{"count":1}', ["oneof_double_value"]],
    ["PUT", "/members/1.5", '{"count":1}', ["oneof_double_value"]],
    ["POST", "/gallery/a:restore", '{"stringValue":"b"}', ["string_value"]],
  ])("of %s %s that is %s is refused", async (method, path, body, fields) => {
    const reply = await server.send(method, path, {
      body,
      headers: { "content-type": "application/json" },
    });
    expect(reply).toMatchObject({ status: 400, failure: { reason: "VALIDATION", fields } });
  });

  it("has the last value of a repeated key, and no field under two names", async () => {
    const headers = { "content-type": "application/json" };
    const twice = await server.send("POST", "/whole", { body: '{"int32Value":1,"int32Value":2}', headers });
    expect(twice.json).toMatchObject({ int32Value: 2 });
    const both = await server.send("POST", "/whole", { body: '{"int32Value":1,"int32_value":1}', headers });
    expect(both.failure.fields).toEqual(["int32_value"]);
  });

  it("is refused if the route takes none", async () => {
    const session = connect(server.url);
    const stream = session.request({ ":path": "/query" }, { endStream: false });
    stream.end("{}");
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    session.close();
    expect(Buffer.concat(chunks).toString()).toContain("takes no body");
  });

  it.each([
    ["gzip", gzipSync],
    ["x-gzip", gzipSync],
    ["br", brotliCompressSync],
    ["BR", brotliCompressSync],
  ])("may be compressed: %s", async (encoding, compress) => {
    const body = compress(Buffer.from('{"stringValue":"a"}'));
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    expect((await server.send("POST", "/whole", { body, headers })).json).toMatchObject({ stringValue: "a" });
  });

  it("that grows beyond the limit when decompressed is 413", async () => {
    const bomb = Buffer.from(JSON.stringify({ stringValue: "a".repeat(300 * 1024) }));
    for (const [encoding, body] of [
      ["gzip", gzipSync(bomb)],
      ["br", brotliCompressSync(bomb)],
    ] as const) {
      const headers = { "content-type": "application/json", "content-encoding": encoding };
      expect(await server.send("POST", "/whole", { body, headers })).toMatchObject({
        status: 413,
        failure: { reason: "BODY_TOO_LARGE" },
      });
    }
  });

  it.each([
    ["deflate", 415],
    ["gzip, br", 415],
    ["gzip", 400],
    ["br", 400],
  ])("that is not %s is %d", async (encoding, status) => {
    const headers = { "content-type": "application/json", "content-encoding": encoding };
    expect((await server.send("POST", "/whole", { body: "{}", headers })).status).toBe(status);
  });

  it.each(["text/json", "application/x-www-form-urlencoded", "application/json; charset=latin1", "json"])(
    "of the type %s is 415",
    async (type) => {
      const reply = await server.send("POST", "/whole", { body: "{}", headers: { "content-type": type } });
      expect(reply).toMatchObject({ status: 415, failure: { reason: "UNSUPPORTED_MEDIA_TYPE" } });
    },
  );
});

describe("a reply", () => {
  it("may be one field of the message", async () => {
    await server.close();
    server = await startGallery({
      part: () => ({ nested: { count: 1 }, stringList: ["a"], int64Value: 5n }),
    });
    expect((await server.send("GET", "/part/nested")).json).toMatchObject({ count: 1, stringValue: "" });
    expect((await server.send("GET", "/part/list")).json).toEqual(["a"]);
    expect((await server.send("GET", "/part/scalar")).json).toBe("5");
  });

  it("is null for an unset field, and has the implicit ones", async () => {
    await server.close();
    server = await startGallery({ part: () => ({}) });
    expect((await server.send("GET", "/part/nested")).text).toBe("null");
    expect((await server.send("GET", "/part/list")).json).toEqual([]);
    expect((await server.send("GET", "/part/scalar")).json).toBe("0");
  });
});

/** Matches nested fields as well. */
function nested(fields: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      typeof value === "object" && value !== null && !Array.isArray(value)
        ? expect.objectContaining(nested(value as object))
        : value,
    ]),
  );
}
