import { afterEach, describe, expect, it } from "vitest";
import { type FakeServer, startFakes } from "./fake-services.ts";

let server: FakeServer;
afterEach(() => server.close());

const ORIGIN = "https://app.example";

async function preflight(origin: string, path = "/tss.v1.Signing/GetSign") {
  return await fetch(server.url + path, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,connect-protocol-version",
    },
  });
}

describe("a preflight", () => {
  it("allows the protocols' and the service's headers on RPC and REST paths", async () => {
    server = await startFakes({ corsOrigins: [ORIGIN] });
    for (const path of ["/tss.v1.Signing/GetSign", "/v1/sign"]) {
      const reply = await preflight(ORIGIN, path);
      expect(reply.status).toBe(204);
      expect(reply.headers.get("access-control-allow-origin")).toBe(ORIGIN);
      const allowed = reply.headers.get("access-control-allow-headers")?.toLowerCase().split(", ");
      expect(allowed).toEqual(
        expect.arrayContaining([
          "authorization",
          "x-api-key",
          "x-network",
          "idempotency-key",
          "connect-protocol-version",
          "connect-timeout-ms",
          "x-grpc-web",
          "grpc-timeout",
        ]),
      );
      expect(reply.headers.get("access-control-allow-methods")).toContain("POST");
    }
    expect(server.calls).toEqual([]);
  });

  it("from another origin is not allowed", async () => {
    server = await startFakes({ corsOrigins: [ORIGIN] });
    const reply = await preflight("https://evil.example");
    expect(reply.headers.get("access-control-allow-origin")).toBeNull();
    expect(reply.status).not.toBe(204);
  });

  it("is allowed from every origin with *", async () => {
    server = await startFakes({ corsOrigins: ["*"] });
    expect((await preflight(ORIGIN)).headers.get("access-control-allow-origin")).toBe("*");
  });
});

describe("a server whose gate allows further origins for single calls", () => {
  it("answers the preflight of every origin alike, which reveals no key and no call", async () => {
    for (const corsOrigins of [[ORIGIN], []]) {
      server = await startFakes({ corsOrigins, gateAllowsMore: true });
      const [own, other] = [await preflight(ORIGIN), await preflight("https://other.example")];
      expect([own.status, other.status]).toEqual([204, 204]);
      expect(other.headers.get("access-control-allow-origin")).toBe("https://other.example");
      expect(other.headers.get("access-control-allow-headers")).toBe(
        own.headers.get("access-control-allow-headers"),
      );
      expect(server.calls).toEqual([]);
      await server.close();
    }
  });

  it("lets only the configured origins and the gate's read a reply", async () => {
    const allowed = "https://session.example";
    server = await startFakes({
      ...{ corsOrigins: [ORIGIN], gateAllowsMore: true },
      gate: ({ requestHeader, responseHeader }) => {
        if (requestHeader.get("origin") === allowed)
          responseHeader.set("access-control-allow-origin", allowed);
      },
    });
    const originAllowedBy = async (origin: string, path = "/v1/network") => {
      const reply = await fetch(server.url + path, { headers: { origin } });
      expect(reply.headers.get("vary")).toContain("origin");
      return reply.headers.get("access-control-allow-origin");
    };
    expect(await originAllowedBy(ORIGIN)).toBe(ORIGIN);
    expect(await originAllowedBy(allowed)).toBe(allowed);
    expect(await originAllowedBy("https://other.example")).toBeNull();
    expect(await originAllowedBy("https://other.example", "/v1/nothing")).toBeNull();
  });
});

describe("a reply to another origin", () => {
  it("shows status, retry and request headers, errors included", async () => {
    server = await startFakes({ corsOrigins: [ORIGIN] });
    for (const path of ["/v1/network", "/v1/nothing"]) {
      const reply = await fetch(server.url + path, { headers: { origin: ORIGIN } });
      expect(reply.headers.get("access-control-allow-origin")).toBe(ORIGIN);
      const exposed = reply.headers.get("access-control-expose-headers")?.toLowerCase().split(", ");
      expect(exposed).toEqual(
        expect.arrayContaining([
          "grpc-status",
          "grpc-message",
          "grpc-status-details-bin",
          "retry-after",
          "x-request-id",
          "etag",
        ]),
      );
    }
  });

  it("varies by origin and by the handler's own headers", async () => {
    server = await startFakes({ corsOrigins: [ORIGIN] });
    const reply = await fetch(`${server.url}/v1/network`);
    expect(reply.headers.get("vary")).toBe("origin, x-network");
  });
});

describe("a request id", () => {
  it("is the caller's if it is plain, or else a new one", async () => {
    server = await startFakes();
    const ask = async (id: string) =>
      (await fetch(`${server.url}/v1/health`, { headers: { "x-request-id": id } })).headers.get(
        "x-request-id",
      );
    expect(await ask("abc-123")).toBe("abc-123");
    for (const id of ["a".repeat(129), "a b", "a\tb", '"quoted"'])
      expect(await ask(id)).toMatch(/^[0-9a-f-]{36}$/);
  });
});
