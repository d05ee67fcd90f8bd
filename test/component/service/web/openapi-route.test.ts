import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createErrorMapping } from "../../../../src/service/platform/errors/error-mapping.ts";
import { openApiRoute } from "../../../../src/service/web/web-routes.ts";
import { startServer, type TransportServer } from "../../../../src/transport/start-server.ts";

let server: TransportServer;
beforeAll(async () => {
  server = await startServer({
    host: "127.0.0.1",
    port: 0,
    services: [],
    errors: createErrorMapping(() => {}),
    routes: [openApiRoute()],
  });
});
afterAll(() => server.close());

describe("GET /openapi.json", () => {
  it("returns the generated document, which caches revalidate each time", async () => {
    const reply = await fetch(`${server.url}/openapi.json`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get("content-type")).toBe("application/json");
    expect(reply.headers.get("cache-control")).toBe("no-cache");
    const generated = readFileSync(new URL("../../../../gen/openapi.json", import.meta.url), "utf8");
    expect(await reply.text()).toBe(generated);
  });

  it("returns 304 without a body or a length while the entity tag matches", async () => {
    const etag = (await fetch(`${server.url}/openapi.json`)).headers.get("etag") ?? "";
    const again = await fetch(`${server.url}/openapi.json`, {
      headers: { "if-none-match": `"x", W/${etag}` },
    });
    expect([again.status, await again.text()]).toEqual([304, ""]);
    expect(again.headers.get("etag")).toBe(etag);
    expect(again.headers.get("content-length")).toBeNull();
    const other = await fetch(`${server.url}/openapi.json`, { headers: { "if-none-match": '"x"' } });
    expect(other.status).toBe(200);
  });

  it("answers HEAD without a body", async () => {
    const reply = await fetch(`${server.url}/openapi.json`, { method: "HEAD" });
    expect(Number(reply.headers.get("content-length"))).toBeGreaterThan(10_000);
    expect(await reply.text()).toBe("");
  });
});
