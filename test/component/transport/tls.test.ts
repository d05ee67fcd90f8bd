import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { get } from "node:https";
import path from "node:path";
import { connect as connectTls } from "node:tls";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { Client, credentials } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, it } from "vitest";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { createLatch, type FakeServer, startFakes, UUID } from "./fake-services.ts";
import { openRaw, rawRequest } from "./raw-socket.ts";

let server: FakeServer;
beforeAll(async () => {
  server = await startFakes({ tls, limits: { firstByteTimeoutMs: 200 } });
});
afterAll(() => server.close());

const tls = {
  // A self-signed certificate of localhost, valid for a hundred years, for tests only.
  certificatePem: readFileSync(
    path.join(import.meta.dirname, "../../support/service/localhost.cert.pem"),
    "utf8",
  ),
  keyPem: readFileSync(path.join(import.meta.dirname, "../../support/service/localhost.key.pem"), "utf8"),
};
const ca = tls.certificatePem;

it("gRPC, Connect over HTTP/2 and Connect over HTTP/1.1 are served by ALPN on the one port", async () => {
  const nodeOptions = { ca };
  const transports = [
    createGrpcTransport({ baseUrl: server.url, nodeOptions }),
    createConnectTransport({ baseUrl: server.url, httpVersion: "2", nodeOptions }),
    createConnectTransport({ baseUrl: server.url, httpVersion: "1.1", nodeOptions }),
  ];
  for (const transport of transports) {
    const reply = await createClient(Signing, transport).getSign({ signRequestId: UUID });
    expect(reply.signRequestId).toBe(UUID);
  }
  expect(server.url).toMatch(/^https:/);
});

it("@grpc/grpc-js connects with the certificate's authority", async () => {
  const client = new Client(new URL(server.url).host, credentials.createSsl(Buffer.from(ca)));
  await new Promise<void>((resolve, reject) => {
    client.waitForReady(Date.now() + 5000, (error) => (error ? reject(error) : resolve()));
  });
  client.close();
});

it("a client that names no protocol gets HTTP/1.1", async () => {
  const socket = connectTls({ port: server.port, host: "127.0.0.1", ca, ALPNProtocols: [] });
  await once(socket, "secureConnect");
  socket.write(rawRequest("GET", "/v1/health"));
  const [bytes] = await once(socket, "data");
  expect(String(bytes)).toMatch(/^HTTP\/1\.1 200 /);
  socket.destroy();
});

it("clear text of either HTTP version gets an error that the port speaks only TLS", async () => {
  const raw = await openRaw(server.port);
  raw.socket.write(rawRequest("GET", "/v1/health"));
  expect(await raw.closed()).toMatch(/^HTTP\/1\.1 400 [\s\S]*TLS only/);
  const session = connectHttp2(`http://127.0.0.1:${server.port}`);
  await expect(once(session, "connect").then(() => once(session, "remoteSettings"))).rejects.toThrow();
});

it("TLS on a port without a certificate is refused at once", async () => {
  const plain = await startFakes();
  const socket = connectTls({ port: plain.port, host: "127.0.0.1", ca });
  const [error] = (await once(socket, "error")) as [NodeJS.ErrnoException];
  expect(error.code).toMatch(/SSL|ECONNRESET/);
  await plain.close();
});

it("a handshake that stalls is cut, and the server continues", async () => {
  const raw = await openRaw(server.port);
  raw.socket.write(Buffer.from([0x16, 3, 1, 0, 200, 1]));
  await raw.closed();
  const status = await new Promise((resolve, reject) => {
    get(`${server.url}/v1/health`, { ca }, (reply) => {
      reply.resume();
      resolve(reply.statusCode);
    }).on("error", reject);
  });
  expect(status).toBe(200);
});

it("draining closes idle TLS connections of both HTTP versions", async () => {
  const drained = await startFakes({ tls });
  const session = connectHttp2(drained.url, { rejectUnauthorized: false });
  await once(session, "remoteSettings");
  const idle = connectTls({ port: drained.port, host: "127.0.0.1", rejectUnauthorized: false });
  await once(idle, "secureConnect");
  idle.write(rawRequest("GET", "/v1/health"));
  await once(idle, "data");
  const ends = Promise.all([once(session, "close"), once(idle.resume(), "close")]);
  expect(await drained.drain({ delayMs: 0, timeoutMs: 2000 })).toBe(true);
  await ends;
});

it("a drain waits for a call over TLS, and not for a handshake that stalls", async () => {
  const latch = createLatch();
  const own = await startFakes({
    tls,
    async getSign({ signRequestId }) {
      await latch.wait();
      return { signRequestId };
    },
  });
  const secured = connectTls({ port: own.port, host: "127.0.0.1", ca, ALPNProtocols: ["http/1.1"] });
  await once(secured, "secureConnect");
  secured.write(rawRequest("GET", `/v1/sign/${UUID}`));
  await latch.entered;
  const half = await openRaw(own.port);
  half.socket.write(Buffer.from([0x16, 3, 1, 2, 0]));
  const drained = own.drain({ delayMs: 0, timeoutMs: 60_000 });
  await half.closed();
  latch.open();
  const [bytes] = await once(secured, "data");
  expect(String(bytes)).toMatch(/^HTTP\/1\.1 200 /);
  expect(await drained).toBe(true);
});
