import { once } from "node:events";
import { connect } from "node:http2";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  DWALLET_ID,
  type FakeServer,
  PARAMETERS,
  PARAMETERS_SHA256,
  startFakes,
  UUID,
} from "./fake-services.ts";

let server: FakeServer;
beforeAll(async () => {
  server = await startFakes();
});
afterAll(() => server.close());

interface Status {
  code: number;
  message: string;
  details: { "@type": string; reason?: string; fieldViolations?: { field: string; description: string }[] }[];
}

async function send(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const reply = await fetch(server.url + path, {
    method,
    headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  return { reply, text: await reply.text() };
}

async function refused(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
  const { reply, text } = await send(method, path, body, headers);
  const status = JSON.parse(text) as Status;
  const reason = status.details.find((detail) => detail["@type"].endsWith("ErrorInfo"))?.reason;
  const fields = status.details.flatMap((detail) => detail.fieldViolations ?? []).map(({ field }) => field);
  return {
    http: reply.status,
    code: status.code,
    reason,
    fields,
    headers: reply.headers,
    message: status.message,
  };
}

describe("a REST reply", () => {
  it("is the message in JSON with implicit fields", async () => {
    const { reply, text } = await send("GET", `/v1/sign/${UUID}`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("application/json");
    expect(JSON.parse(text)).toMatchObject({
      signRequestId: UUID,
      status: "queued",
      priceMicroUsd: "5",
      dwalletId: "",
    });
  });

  it("answers HEAD with the head of GET and no body", async () => {
    const get = await send("GET", "/v1/network");
    const head = await send("HEAD", "/v1/network");
    expect(head.reply.status).toBe(200);
    expect(head.reply.headers.get("content-length")).toBe(String(get.text.length));
    expect(head.text).toBe("");
  });

  it("is the same over HTTP/2", async () => {
    const session = connect(server.url);
    const stream = session.request({ ":path": `/v1/sign/${UUID}` });
    const [headers] = await once(stream, "response");
    const chunks: Buffer[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    session.close();
    expect(headers[":status"]).toBe(200);
    expect(JSON.parse(Buffer.concat(chunks).toString())).toMatchObject({ signRequestId: UUID });
  });
});

describe("a REST request", () => {
  it("takes query parameters by proto name and by JSON name", async () => {
    for (const name of ["signature_algorithm", "signatureAlgorithm"]) {
      expect((await send("GET", `/v1/admin/presigns/health?curve=2&${name}=1`)).reply.status).toBe(200);
      expect(server.seen.at(-1)?.message).toMatchObject({ curve: 2, signatureAlgorithm: 1 });
    }
  });

  it("distinguishes an absent optional scalar from zero", async () => {
    const absent = await send("GET", "/v1/admin/presigns/health");
    const zero = await send("GET", "/v1/admin/presigns/health?curve=0");
    expect(JSON.parse(absent.text)).toMatchObject({ buckets: [{ curve: 99 }] });
    expect(JSON.parse(zero.text)).toMatchObject({ buckets: [{ curve: 0 }] });
  });

  it("keeps the precision of 64-bit integers", async () => {
    await send("GET", `/v1/protocol-parameters/${PARAMETERS_SHA256}?offset=599999`);
    expect(server.seen.at(-1)?.message).toMatchObject({ offset: 599_999n });
    await send("GET", `/v1/protocol-parameters/${"0".repeat(64)}?offset=18446744073709551615`);
    expect(server.seen.at(-1)?.message).toMatchObject({ offset: 2n ** 64n - 1n });
  });

  it("binds path variables next to a whole body, and accepts a body that repeats them", async () => {
    for (const body of [{ userSignMessage: "AQI=" }, { userSignMessage: "AQI=", sign_request_id: UUID }]) {
      const { reply } = await send("POST", `/v1/sign/${UUID}/submit`, body);
      expect(reply.status).toBe(200);
      expect(server.seen.at(-1)?.message).toMatchObject({
        signRequestId: UUID,
        userSignMessage: new Uint8Array([1, 2]),
      });
    }
  });

  it("decodes escapes in path variables", async () => {
    const { reply } = await send("GET", `/v1/sign/${UUID.replaceAll("-", "%2D")}`);
    expect(reply.status).toBe(200);
  });

  const refusals: [string, string, string, unknown, { http: number; reason: string; fields?: string[] }][] = [
    ["no such path", "GET", "/v1/nothing", undefined, { http: 404, reason: "ROUTE_NOT_FOUND" }],
    ["a trailing slash", "GET", "/v1/network/", undefined, { http: 404, reason: "ROUTE_NOT_FOUND" }],
    ["another method", "DELETE", "/v1/network", undefined, { http: 405, reason: "METHOD_NOT_ALLOWED" }],
    ["malformed JSON", "POST", "/v1/sign", "{", { http: 400, reason: "VALIDATION", fields: [] }],
    ["JSON that is no object", "POST", "/v1/sign", "[]", { http: 400, reason: "VALIDATION", fields: [] }],
    [
      "an unknown field",
      "POST",
      "/v1/sign",
      { nope: 1 },
      { http: 400, reason: "VALIDATION", fields: ["nope"] },
    ],
    [
      "a field of a wrong type",
      "POST",
      "/v1/sign",
      { dwalletId: 5 },
      { http: 400, reason: "VALIDATION", fields: ["dwallet_id"] },
    ],
    [
      "an unknown enum name",
      "POST",
      "/v1/sign",
      { hashScheme: "MD5" },
      { http: 400, reason: "VALIDATION", fields: ["hash_scheme"] },
    ],
    [
      "bytes that are not base64",
      "POST",
      "/v1/sign",
      { message: "%%" },
      { http: 400, reason: "VALIDATION", fields: ["message"] },
    ],
    [
      "a rule of the contract broken",
      "GET",
      "/v1/sign/abc",
      undefined,
      { http: 400, reason: "VALIDATION", fields: ["sign_request_id"] },
    ],
    [
      "a body that disagrees with the path",
      "POST",
      `/v1/dwallets/${DWALLET_ID}/accept`,
      { dwalletId: `0x${"cd".repeat(32)}` },
      { http: 400, reason: "VALIDATION", fields: ["dwallet_id"] },
    ],
    [
      "an unknown query parameter",
      "GET",
      "/v1/network?verbose=1",
      undefined,
      { http: 400, reason: "VALIDATION", fields: ["verbose"] },
    ],
    [
      "a query beside a whole body",
      "POST",
      "/v1/sign?message=AA",
      {},
      { http: 400, reason: "VALIDATION", fields: ["message"] },
    ],
    [
      "a scalar given twice",
      "GET",
      "/v1/admin/presigns/health?curve=1&curve=1",
      undefined,
      { http: 400, reason: "VALIDATION", fields: ["curve"] },
    ],
    [
      "a scalar given under both names",
      "GET",
      "/v1/admin/presigns/health?signature_algorithm=1&signatureAlgorithm=1",
      undefined,
      { http: 400, reason: "VALIDATION", fields: ["signature_algorithm"] },
    ],
    ...["0x1", "1e0", "1.0", "+1", "%201", "", "one", "-1", "4294967296"].map(
      (text): (typeof refusals)[number] => [
        `the integer ${JSON.stringify(text)}`,
        "GET",
        `/v1/admin/presigns/health?curve=${text}`,
        undefined,
        { http: 400, reason: "VALIDATION", fields: ["curve"] },
      ],
    ),
    [
      "a path variable in the query",
      "GET",
      `/v1/sign/${UUID}?sign_request_id=${UUID}`,
      undefined,
      { http: 400, reason: "VALIDATION", fields: ["sign_request_id"] },
    ],
    [
      "escapes that are not UTF-8",
      "GET",
      "/v1/sign/%ff",
      undefined,
      { http: 400, reason: "VALIDATION", fields: ["sign_request_id"] },
    ],
  ];
  it.each(refusals)("with %s is refused", async (_name, method, path, body, expected) => {
    expect(await refused(method, path, body)).toMatchObject(expected);
  });

  it("names the methods of a path in Allow", async () => {
    expect((await refused("PUT", "/v1/network")).headers.get("allow")).toBe("GET, HEAD, OPTIONS");
    expect((await refused("GET", `/v1/sign/${UUID}/submit`)).headers.get("allow")).toBe("POST, OPTIONS");
    expect((await refused("POST", "/v1/health", {})).headers.get("allow")).toBe("GET, HEAD");
  });

  it("with another content type or an encoding is 415", async () => {
    const form = { "content-type": "application/x-www-form-urlencoded" };
    expect(await refused("POST", "/v1/sign", "a=b", form)).toMatchObject({
      http: 415,
      reason: "UNSUPPORTED_MEDIA_TYPE",
    });
    const zipped = { "content-encoding": "zstd" };
    expect(await refused("POST", "/v1/sign", {}, zipped)).toMatchObject({
      http: 415,
      reason: "UNSUPPORTED_MEDIA_TYPE",
    });
  });

  it("with invalid UTF-8 is malformed, and its text is not repeated", async () => {
    const reply = await fetch(`${server.url}/v1/sign`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.from('{"dwalletId":"secret\xff"}', "latin1"),
    });
    expect(reply.status).toBe(400);
    expect(await reply.text()).not.toContain("secret");
  });
});

describe("GET /v1/protocol-parameters/{sha256}", () => {
  const path = `/v1/protocol-parameters/${PARAMETERS_SHA256}`;

  it("sends the raw octets with length, type, tag and caching", async () => {
    const reply = await fetch(server.url + path);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-type": "application/octet-stream",
      "content-length": String(PARAMETERS.length),
      etag: `"${PARAMETERS_SHA256}"`,
      "cache-control": expect.stringContaining("immutable"),
    });
    expect(Buffer.from(await reply.arrayBuffer()).equals(PARAMETERS)).toBe(true);
  });

  it("returns 304 without a body for the caller's tag", async () => {
    for (const tag of [`"${PARAMETERS_SHA256}"`, `"other", W/"${PARAMETERS_SHA256}"`, "*"]) {
      const { reply, text } = await send("GET", path, undefined, { "if-none-match": tag });
      expect([reply.status, text]).toEqual([304, ""]);
      expect(reply.headers.get("etag")).toBe(`"${PARAMETERS_SHA256}"`);
    }
    expect((await send("GET", path, undefined, { "if-none-match": '"other"' })).reply.status).toBe(200);
  });

  it("resumes a broken download", async () => {
    const tag = `"${PARAMETERS_SHA256}"`;
    const range = { range: "bytes=599990-", "if-range": tag };
    const { reply } = await send("GET", path, undefined, range);
    expect(reply.status).toBe(206);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      "content-range": "bytes 599990-599999/600000",
      "content-length": "10",
      etag: tag,
    });
    const behind = await refused("GET", path, undefined, { range: "bytes=600000-" });
    expect(behind).toMatchObject({ http: 416, code: 11, reason: "RANGE_NOT_SATISFIABLE" });
    expect(behind.headers.get("content-range")).toBe("bytes */600000");
  });

  it("answers HEAD with the length", async () => {
    const { reply, text } = await send("HEAD", path);
    expect([reply.status, reply.headers.get("content-length"), text]).toEqual([
      200,
      String(PARAMETERS.length),
      "",
    ]);
  });

  it("fails with a status before the first octet", async () => {
    const unknown = await refused("GET", `/v1/protocol-parameters/${"0".repeat(64)}`);
    expect(unknown).toMatchObject({ http: 404, code: 5, reason: "PARAMETERS_NOT_FOUND" });
  });
});
