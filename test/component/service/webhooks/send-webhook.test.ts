import type { ServerResponse } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import {
  createWebhookSender,
  type WebhookSenderOptions,
} from "../../../../src/service/webhooks/send-webhook.ts";
import {
  RECEIVER_CERTIFICATE,
  type ReceivedRequest,
  type Receiver,
  startReceiver,
} from "../../../support/service/receiver.ts";

const open: Pick<Receiver, "close">[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((each) => each.close()));
});

async function receiver(
  reply?: (request: ReceivedRequest, response: ServerResponse) => void,
  options?: { isSecure: boolean },
): Promise<Receiver> {
  const started = await startReceiver(reply, options);
  open.push(started);
  return started;
}

/** A receiver that speaks whatever it likes. Its promise resolves when its first connection is closed. */
async function rawReceiver(
  onConnection: (socket: Socket) => void,
): Promise<{ readonly url: string; readonly closed: Promise<void> }> {
  const sockets = new Set<Socket>();
  let end: () => void = () => {};
  const closed = new Promise<void>((resolve) => {
    end = resolve;
  });
  const server: Server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", end);
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  open.push({
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  });
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}/`, closed };
}

const send = (url: string, options: WebhookSenderOptions = {}) =>
  createWebhookSender({ allowsInside: true, ca: RECEIVER_CERTIFICATE, ...options })({
    url,
    headers: { "content-type": "application/json", "webhook-id": "1" },
    body: '{"é":1}',
  });

describe("a webhook request", () => {
  it("posts the body over TLS, by the name in the URL at the resolved address", async () => {
    const { port, requests } = await receiver(undefined, { isSecure: true });
    const resolve = async () => ["127.0.0.1"];
    expect(await send(`https://localhost:${port}/hook?a=1`, { resolve })).toEqual({ status: 200 });
    expect(requests[0]).toMatchObject({ method: "POST", url: "/hook?a=1", body: '{"é":1}' });
    expect(requests[0]!.headers).toMatchObject({ host: `localhost:${port}`, "webhook-id": "1" });
  });

  it("refuses a certificate that is not for the name in the URL, or of an unknown authority", async () => {
    const { port, requests } = await receiver(undefined, { isSecure: true });
    const resolve = async () => ["127.0.0.1"];
    expect(await send(`https://hooks.example:${port}/`, { resolve })).toEqual({
      error: "the connection failed: ERR_TLS_CERT_ALTNAME_INVALID",
    });
    expect(await send(`https://localhost:${port}/`, { resolve, ca: undefined })).toEqual({
      error: expect.stringMatching(/^the connection failed: [A-Z_]*CERT[A-Z_]*$/) as string,
    });
    expect(requests).toEqual([]);
  });

  it.each([
    ["loopback", "127.0.0.1"],
    ["private", "10.1.2.3"],
    ["link-local, with the metadata of clouds", "169.254.169.254"],
    ["IPv6 loopback", "::1"],
    ["IPv4 within IPv6", "::ffff:10.1.2.3"],
    ["unique local", "fd00::1"],
  ])("reaches no address of the inside: %s", async (_range, address) => {
    const { port, requests } = await receiver();
    const bare = { allowsInside: false, resolve: async () => ["93.184.215.14", address] };
    expect(await send(`https://hooks.example:${port}/`, bare)).toEqual({
      error: "the host has an address that is not public",
    });
    const literal = address.includes(":") ? `[${address}]` : address;
    expect(await send(`https://${literal}:${port}/`, bare)).toEqual({ error: "the URL is not allowed" });
    expect(requests).toEqual([]);
  });

  it("connects to the address that was checked, whatever DNS says a moment later", async () => {
    const { port, requests } = await receiver();
    let askedCount = 0;
    // The first answer is harmless and leads nowhere; the second one is the inside.
    const resolve = async () => (askedCount++ === 0 ? ["0.0.0.1"] : ["127.0.0.1"]);
    const result = await send(`http://rebinding.example:${port}/`, { resolve, timeoutMs: 2_000 });
    expect(result).toHaveProperty("error");
    expect(askedCount).toBe(1);
    expect(requests).toEqual([]);
  });

  it("follows no redirect, such as one to the metadata of a cloud", async () => {
    const inside = await receiver();
    const { url } = await receiver((_request, response) => {
      response.writeHead(307, { location: `${inside.url}/latest/meta-data` });
      response.end();
    });
    expect(await send(url)).toEqual({ status: 307 });
    expect(inside.requests).toEqual([]);
  });

  it("reads nothing of a reply that never ends", async () => {
    let writtenCount = 0;
    const { url, closed } = await rawReceiver((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
        const flood = () => {
          while (!socket.destroyed && socket.write(`10000\r\n${"x".repeat(65_536)}\r\n`)) writtenCount++;
        };
        socket.on("drain", flood);
        flood();
      });
    });
    expect(await send(url)).toEqual({ status: 200 });
    await closed;
    expect(writtenCount).toBeLessThan(1_000);
  });

  it("refuses endless headers", async () => {
    const { url } = await rawReceiver((socket) => {
      socket.once("data", () => {
        socket.write("HTTP/1.1 200 OK\r\n");
        const flood = () => {
          while (!socket.destroyed && socket.write(`x-flood: ${"x".repeat(1_000)}\r\n`));
        };
        socket.on("drain", flood);
        flood();
      });
    });
    expect(await send(url)).toEqual({ error: "the connection failed: HPE_HEADER_OVERFLOW" });
  });

  it("gives up a receiver that never replies, and closes its connection", async () => {
    const { url, closed } = await rawReceiver((socket) => socket.resume());
    expect(await send(url, { timeoutMs: 50 })).toEqual({ error: "it took too long" });
    await closed;
  });

  it("gives up a name server that never answers, within the same time", async () => {
    const result = await send("http://slow.example/", {
      timeoutMs: 50,
      resolve: () => new Promise(() => {}),
    });
    expect(result).toEqual({ error: "it took too long" });
  });

  it("tells that nobody listens, and that a host has no address", async () => {
    const { url, close } = await startReceiver();
    await close();
    expect(await send(url)).toEqual({ error: "the connection failed: ECONNREFUSED" });
    expect(await send("http://nobody.example/", { resolve: async () => [] })).toEqual({
      error: "the host has no address",
    });
  });

  it.each([
    "http://hooks.example/",
    "https://user@hooks.example/",
    "https://hooks.example/#a",
    "ftp://hooks.example/",
  ])("is never made to %s", async (url) => {
    expect(await send(url, { allowsInside: false })).toEqual({ error: "the URL is not allowed" });
  });
});
