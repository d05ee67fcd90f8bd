import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect, constants, type OutgoingHttpHeaders } from "node:http2";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { afterEach, describe, expect, it } from "vitest";
import { countedAs } from "../../../src/transport/connections/connection-counter.ts";
import { createLatch, type FakeServer, startFakes, UUID } from "./fake-services.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";

const CERTIFICATE = readFileSync(
  path.join(import.meta.dirname, "../../support/service/localhost.cert.pem"),
  "utf8",
);
const KEY = readFileSync(path.join(import.meta.dirname, "../../support/service/localhost.key.pem"), "utf8");
const TLS = { certificatePem: CERTIFICATE, keyPem: KEY };

let server: FakeServer;
afterEach(() => server.close());

describe("connections of one address", () => {
  it("are refused beyond the limit, whatever their protocol, and accepted again when others close", async () => {
    server = await startFakes({ limits: { connectionsPerAddressCount: 3 } });
    const silent = await openRaw(server.port);
    const http1 = await openRaw(server.port);
    http1.socket.write(rawRequest("GET", "/v1/health"));
    await http1.until(/"ok"/);
    const http2 = connect(server.url);
    await once(http2, "remoteSettings");
    expect(await (await openRaw(server.port)).closed()).toBe("");
    const refused = connect(server.url);
    refused.on("error", () => {});
    await new Promise((resolve) => refused.once("close", resolve));
    expect(server.refused).toEqual(["127.0.0.1"]);
    const closed = new Promise((resolve) => http2.once("close", resolve));
    http2.close();
    await closed;
    // The server may notice it later than this process.
    let text = "";
    while (text === "") {
      const next = await openRaw(server.port);
      next.socket.write(rawRequest("GET", "/v1/health", { connection: "close" }));
      text = await next.closed();
    }
    expect(text).toMatch(/^HTTP\/1\.1 200 /);
    silent.socket.destroy();
    http1.socket.destroy();
  });

  it("count during their TLS handshake, until it fails or takes too long", async () => {
    server = await startFakes({
      tls: TLS,
      limits: { connectionsPerAddressCount: 1, firstByteTimeoutMs: 100 },
    });
    const half = await openRaw(server.port);
    // The head of a handshake record without its body.
    half.socket.write(Buffer.from([0x16, 3, 1, 2, 0]));
    expect(await (await openRaw(server.port)).closed()).toBe("");
    await half.closed();
    const good = connectTls({ port: server.port, host: "127.0.0.1", ca: CERTIFICATE });
    await once(good, "secureConnect");
    expect(await (await openRaw(server.port)).closed()).toBe("");
    good.destroy();
  });

  it("are not limited for a trusted proxy", async () => {
    const isTrustedPeer = (address: string) => address === "127.0.0.1";
    server = await startFakes({ isTrustedPeer, limits: { connectionsPerAddressCount: 1 } });
    const all = await Promise.all(Array.from({ length: 5 }, () => openRaw(server.port)));
    for (const { socket } of all) socket.write(rawRequest("GET", "/v1/health"));
    for (const raw of all) expect(await raw.until(/"ok"/)).toMatch(/ 200 /);
    for (const { socket } of all) socket.destroy();
  });

  it("are limited together with those of all addresses, even for proxies", async () => {
    server = await startFakes({ isTrustedPeer: () => true, limits: { connectionsCount: 1 } });
    const first = await openRaw(server.port);
    expect(await (await openRaw(server.port)).closed()).toBe("");
    first.socket.destroy();
  });
});

describe("an address", () => {
  it.each([
    ["192.0.2.1", "192.0.2.1"],
    ["::1", "0:0:0:0"],
    ["2001:db8:1:2::5", "2001:db8:1:2"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::", "2001:db8:0:0"],
    ["fe80::1%eth0", "fe80:0:0:0"],
  ])("%s counts as %s", (address, key) => {
    expect(countedAs(address)).toBe(key);
  });
});

describe("headers over HTTP/2", () => {
  it("above the limit get 431, or RESOURCE_EXHAUSTED over gRPC, from the first request", async () => {
    server = await startFakes();
    const session = connect(server.url);
    const ask = async (headers: OutgoingHttpHeaders) => {
      const [head] = await once(session.request(headers).resume(), "response");
      return [head[":status"], head["grpc-status"]];
    };
    const long = "a".repeat(20_000);
    const grpc = {
      ":method": "POST",
      ":path": "/tss.v1.Signing/GetSign",
      "content-type": "application/grpc",
    };
    // The second time, the peer has confirmed the limit.
    for (let time = 0; time < 2; time++) {
      expect(await ask({ ":path": `/v1/health?${long}` })).toEqual([431, undefined]);
      expect(await ask({ ":path": "/v1/health", "x-long": long })).toEqual([431, undefined]);
      expect(await ask({ ...grpc, "x-long": long })).toEqual([200, "8"]);
      expect(await ask({ ":path": "/v1/health" })).toEqual([200, undefined]);
    }
    session.close();
  });

  it("far above the limit are reset", async () => {
    server = await startFakes();
    const session = connect(server.url);
    await once(session, "remoteSettings");
    const stream = session.request({ ":path": "/v1/health", "x-long": "a".repeat(60_000) });
    await new Promise((resolve) => stream.on("error", () => {}).once("close", resolve));
    expect(stream.rstCode).toBe(constants.NGHTTP2_ENHANCE_YOUR_CALM);
    session.close();
  });
});

describe("pipelined requests", () => {
  it("end when their connection breaks, even those that are still queued", async () => {
    let leftCount = 0;
    const left = createLatch();
    const begun = createLatch();
    server = await startFakes({
      async getSign(_request, { signal }) {
        signal.addEventListener("abort", () => ++leftCount === 3 && void left.wait());
        void begun.wait();
        await new Promise(() => {});
        return {};
      },
    });
    const raw = await openRaw(server.port);
    raw.socket.write(rawRequest("GET", `/v1/sign/${UUID}`).repeat(3));
    await begun.entered;
    raw.socket.destroy();
    await left.entered;
    expect(leftCount).toBe(3);
  });
});
