import { randomBytes } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { gunzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createErrorMapping } from "../../../../src/service/platform/errors/error-mapping.ts";
import { consoleRoutes } from "../../../../src/service/web/web-routes.ts";
import { startServer, type TransportServer } from "../../../../src/transport/start-server.ts";

const PAGE = "<!doctype html><title>page</title>";
const SCRIPT = "export const answer = 42;".repeat(100);
/** As packed as a font: it has no repetition that gzip could shorten. */
const FONT = randomBytes(400);
const folder = mkdtempSync(path.join(tmpdir(), "tss-console-"));
let server: TransportServer;

beforeAll(async () => {
  mkdirSync(path.join(folder, "assets"));
  writeFileSync(path.join(folder, "index.html"), PAGE);
  writeFileSync(path.join(folder, "assets/index-a1b2.js"), SCRIPT);
  writeFileSync(path.join(folder, "assets/index-c3d4.css"), "p{}");
  writeFileSync(path.join(folder, "assets/inter-e5f6.woff2"), FONT);
  writeFileSync(path.join(folder, "secret.js"), "not to be served");
  server = await startServer({
    host: "127.0.0.1",
    port: 0,
    services: [],
    errors: createErrorMapping(() => {}),
    routes: consoleRoutes(folder),
  });
});
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true });
});

/** Sends a request with the path as it is, without normalization by a URL parser. */
function ask(target: string, { method = "GET", headers = {} } = {}) {
  const { hostname, port } = new URL(server.url);
  return new Promise<{ status: number; headers: Record<string, unknown>; body: Buffer }>(
    (resolve, reject) => {
      request({ hostname, port, path: target, method, headers }, (reply) => {
        const chunks: Buffer[] = [];
        reply.on("data", (chunk: Buffer) => chunks.push(chunk));
        reply.on("end", () =>
          resolve({ status: reply.statusCode ?? 0, headers: reply.headers, body: Buffer.concat(chunks) }),
        );
      })
        .on("error", reject)
        .end();
    },
  );
}

it("serves the page at /console, with and without a slash, and has caches revalidate it", async () => {
  for (const target of ["/console", "/console/"]) {
    const reply = await ask(target);
    expect([reply.status, reply.body.toString()]).toEqual([200, PAGE]);
    expect(reply.headers["content-type"]).toBe("text/html; charset=utf-8");
    expect(reply.headers["cache-control"]).toBe("no-cache");
  }
});

it("serves scripts and styles with their types, and lets caches keep them for a year", async () => {
  const script = await ask("/console/assets/index-a1b2.js");
  expect(script.body.toString()).toBe(SCRIPT);
  expect(script.headers["content-type"]).toBe("text/javascript; charset=utf-8");
  expect(script.headers["cache-control"]).toBe("public, max-age=31536000, immutable");
  expect((await ask("/console/assets/index-c3d4.css")).headers["content-type"]).toBe(
    "text/css; charset=utf-8",
  );
});

it("forbids inline scripts, other origins and frames on every file", async () => {
  for (const target of ["/console", "/console/assets/index-a1b2.js"]) {
    const { headers } = await ask(target);
    expect(headers["content-security-policy"]).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    );
    expect(headers["x-content-type-options"]).toBe("nosniff");
    expect(headers["referrer-policy"]).toBe("no-referrer");
    expect(headers["cross-origin-opener-policy"]).toBe("same-origin");
    expect(headers["set-cookie"]).toBeUndefined();
  }
});

it("compresses a file for callers that accept gzip, and for no others", async () => {
  const target = "/console/assets/index-a1b2.js";
  const packed = await ask(target, { headers: { "accept-encoding": "br, gzip;q=0.5" } });
  expect(packed.headers["content-encoding"]).toBe("gzip");
  expect(gunzipSync(packed.body).toString()).toBe(SCRIPT);
  expect(packed.body.length).toBeLessThan(SCRIPT.length / 10);
  for (const accepted of ["br", "gzip;q=0", "gzip; q=0.00", "xgzip"]) {
    const plain = await ask(target, { headers: { "accept-encoding": accepted } });
    expect([accepted, plain.headers["content-encoding"]]).toEqual([accepted, undefined]);
    expect(plain.headers["vary"]).toBe("accept-encoding");
    expect(plain.headers["etag"]).not.toBe(packed.headers["etag"]);
  }
});

it("serves a font as it is, because gzip would make it larger", async () => {
  const { headers, body } = await ask("/console/assets/inter-e5f6.woff2", {
    headers: { "accept-encoding": "gzip" },
  });
  expect([headers["content-type"], headers["content-encoding"]]).toEqual(["font/woff2", undefined]);
  expect(body.equals(FONT)).toBe(true);
});

it("answers 304 while the entity tag matches, and answers HEAD without a body", async () => {
  const { headers } = await ask("/console");
  const again = await ask("/console", { headers: { "if-none-match": String(headers["etag"]) } });
  expect([again.status, again.body.length]).toEqual([304, 0]);
  expect(again.headers["content-security-policy"]).toBe(headers["content-security-policy"]);
  const head = await ask("/console", { method: "HEAD" });
  expect([head.status, head.headers["content-length"], head.body.length]).toEqual([200, "34", 0]);
});

it("serves no file except the page and its assets, whatever the path looks like", async () => {
  const targets = [
    "/console/secret.js",
    "/console/assets/../secret.js",
    "/console/assets/../../package.json",
    "/console/assets/%2e%2e/secret.js",
    "/console/assets/..%2fsecret.js",
    "/console/assets/..\\secret.js",
    "/console/assets//index-a1b2.js",
    "/console/assets/",
    "/console/assets",
    "/console//",
    "//console",
  ];
  const statuses = await Promise.all(targets.map(async (target) => [target, (await ask(target)).status]));
  expect(statuses).toEqual(targets.map((target) => [target, 404]));
});

it("refuses other methods", async () => {
  expect((await ask("/console", { method: "POST" })).status).toBe(405);
});

it("refuses to start with a file of a type that it does not know", () => {
  const odd = mkdtempSync(path.join(tmpdir(), "tss-console-odd-"));
  mkdirSync(path.join(odd, "assets"));
  writeFileSync(path.join(odd, "index.html"), PAGE);
  writeFileSync(path.join(odd, "assets/notes.txt"), "");
  expect(() => consoleRoutes(odd)).toThrow("the console has a file of an unknown type: assets/notes.txt");
  rmSync(odd, { recursive: true });
});
