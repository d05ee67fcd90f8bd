import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Server } from "node:net";
import path from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import {
  createKeySetFetch,
  type KeySetFetchOptions,
} from "../../../../../src/service/access/identity/fetch-key-set.ts";
import { readOutsideUrl } from "../../../../../src/service/access/identity/outside-url.ts";
import { tokenKey } from "../../../../support/crypto/signed-token.ts";
import { ROOT } from "../../../../support/repository/source-files.ts";

const KEYS = JSON.stringify({ keys: [tokenKey("ES256", "k1").jwk] });
const pem = (name: string) => readFileSync(path.join(ROOT, "test/support/service", name), "utf8");
const CERTIFICATE = pem("localhost.cert.pem");

const open: Server[] = [];
afterEach(async () => {
  await Promise.all(
    open.splice(0).map(
      (server) =>
        new Promise((resolve) => {
          (server as { closeAllConnections?: () => void }).closeAllConnections?.();
          server.close(resolve);
        }),
    ),
  );
});

/** Starts a provider on the loopback interface, and returns its port and the requests that reached it. */
async function provider(
  reply: (request: IncomingMessage, response: ServerResponse) => void,
  isSecure = true,
) {
  const requests: IncomingMessage[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push(request);
    reply(request, response);
  };
  const server = isSecure
    ? createTlsServer({ cert: CERTIFICATE, key: pem("localhost.key.pem") }, listener)
    : createServer(listener);
  open.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { port: (server.address() as AddressInfo).port, requests };
}

const good = (_request: IncomingMessage, response: ServerResponse) => response.end(KEYS);
const fetchInside = (options: KeySetFetchOptions = {}) =>
  createKeySetFetch({ allowsInside: true, ca: CERTIFICATE, resolve: async () => ["127.0.0.1"], ...options });

describe("a download of keys", () => {
  it("reads the keys over TLS, by the name in the URL at the resolved address", async () => {
    const { port, requests } = await provider(good);
    const set = await fetchInside()(`https://localhost:${port}/jwks?v=1`);
    expect(set.keys.map(({ kid }) => kid)).toEqual(["k1"]);
    expect(requests[0]?.headers.host).toBe(`localhost:${port}`);
    expect(requests[0]?.url).toBe("/jwks?v=1");
  });

  it("refuses a certificate that is not for the name in the URL", async () => {
    const { port, requests } = await provider(good);
    await expect(fetchInside()(`https://login.example:${port}/jwks`)).rejects.toThrow("the download failed");
    expect(requests).toEqual([]);
  });

  it("refuses a certificate of an unknown authority", async () => {
    const { port, requests } = await provider(good);
    const fetch = createKeySetFetch({ allowsInside: true });
    await expect(fetch(`https://localhost:${port}/jwks`)).rejects.toThrow("the download failed");
    expect(requests).toEqual([]);
  });

  it("reads http if inside addresses are allowed, for development", async () => {
    const { port } = await provider(good, false);
    expect((await fetchInside()(`http://localhost:${port}/jwks`)).keys).toHaveLength(1);
  });

  it.each(["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:127.0.0.1", "64:ff9b::7f00:1"])(
    "does not connect to %s, whatever the name",
    async (address) => {
      const { port, requests } = await provider(good);
      const fetch = createKeySetFetch({ ca: CERTIFICATE, resolve: async () => [address] });
      await expect(fetch(`https://localhost:${port}/jwks`)).rejects.toThrow("an address that is not public");
      expect(requests).toEqual([]);
    },
  );

  it("does not connect if only one of several addresses is inside", async () => {
    const fetch = createKeySetFetch({ resolve: async () => ["8.8.8.8", "127.0.0.1"] });
    await expect(fetch("https://login.example/jwks")).rejects.toThrow("an address that is not public");
  });

  it("refuses a name of the local machine by the system's resolver", async () => {
    const { port, requests } = await provider(good);
    const fetch = createKeySetFetch({ ca: CERTIFICATE });
    await expect(fetch(`https://localhost:${port}/jwks`)).rejects.toThrow("an address that is not public");
    expect(requests).toEqual([]);
  });

  it("connects to the address that it checked, and never asks DNS again", async () => {
    const { port, requests } = await provider(good, false);
    const answers = ["127.0.0.1", "192.0.2.1"];
    let askedCount = 0;
    const fetch = fetchInside({ resolve: async () => [answers[askedCount++]!] });
    // No resolver knows this name.
    const set = await fetch(`http://login.invalid:${port}/jwks`);
    expect(set.keys).toHaveLength(1);
    expect(askedCount).toBe(1);
    expect(requests[0]?.headers.host).toBe(`login.invalid:${port}`);
  });

  it.each([301, 302, 303, 307, 308])("does not follow a redirect (%i)", async (status) => {
    const target = await provider(good);
    const { port } = await provider((_request, response) => {
      response.writeHead(status, { location: `https://localhost:${target.port}/jwks` }).end(KEYS);
    });
    await expect(fetchInside()(`https://localhost:${port}/`)).rejects.toThrow(
      `the reply has the status ${status}`,
    );
    expect(target.requests).toEqual([]);
  });

  it.each([204, 401, 404, 500])("refuses a reply with the status %i", async (status) => {
    const { port } = await provider((_request, response) => response.writeHead(status).end());
    await expect(fetchInside()(`https://localhost:${port}/`)).rejects.toThrow(
      `the reply has the status ${status}`,
    );
  });

  it("ends an endless reply after 64 KiB", async () => {
    let sentCount = 0;
    const ended = deferred<void>();
    const { port } = await provider((_request, response) => {
      const write = () => {
        while (!response.destroyed && response.write(" ".repeat(16_384))) sentCount++;
      };
      response.on("drain", write).on("close", () => ended.resolve());
      write();
    });
    await expect(fetchInside()(`https://localhost:${port}/`)).rejects.toThrow("the key set is too large");
    await ended.promise;
    expect(sentCount).toBeLessThan(1_000);
  });

  it.each([
    ["that accepts the connection and says nothing", () => {}],
    [
      "that sends its head and then nothing",
      (_: IncomingMessage, response: ServerResponse) => response.flushHeaders(),
    ],
  ])("gives up on a provider %s", async (_, reply) => {
    const { port, requests } = await provider(reply);
    await expect(fetchInside({ timeoutMs: 300 })(`https://localhost:${port}/`)).rejects.toThrow(
      "took too long",
    );
    if (requests[0] !== undefined && !requests[0].destroyed)
      await new Promise((resolve) => requests[0]!.on("close", resolve));
  });

  it("ends when the provider switches protocols, so that such providers do not keep others from being asked", async () => {
    const switching = await provider((_request, { socket }) =>
      socket?.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: other\r\n\r\n"),
    );
    const { port } = await provider(good);
    const fetch = fetchInside();
    for (let count = 0; count < 3; count++)
      await expect(fetch(`https://localhost:${switching.port}/`)).rejects.toThrow("closed without a reply");
    expect((await fetch(`https://localhost:${port}/`)).keys).toHaveLength(1);
  });

  it("gives up on a resolver that does not answer, and counts it until it ends", async () => {
    const stuck = [deferred<string[]>(), deferred<string[]>()];
    let askedCount = 0;
    const fetch = createKeySetFetch({ timeoutMs: 5, resolve: () => stuck[askedCount++]!.promise });
    await expect(fetch("https://a.example/")).rejects.toThrow("took too long");
    await expect(fetch("https://b.example/")).rejects.toThrow("took too long");
    await expect(fetch("https://c.example/")).rejects.toThrow("too many downloads are running");
    expect(askedCount).toBe(2);
    for (const { reject } of stuck) reject(new Error("no answer"));
    await Promise.allSettled(stuck.map(({ promise }) => promise));
    stuck.push(deferred<string[]>());
    await expect(fetch("https://d.example/")).rejects.toThrow("took too long");
    stuck[2]?.resolve([]);
  });

  it("is not refused for fifteen slow ones of other providers, and for sixteen it is", async () => {
    const held: ServerResponse[] = [];
    let arrived = () => {};
    const slow = await provider((_request, response) => {
      held.push(response);
      arrived();
    });
    const { port } = await provider(good);
    const fetch = fetchInside({ timeoutMs: 60_000 });
    const waiting: Promise<unknown>[] = [];
    const begin = async () => {
      const { promise, resolve } = deferred<void>();
      arrived = resolve;
      const call = fetch(`https://localhost:${slow.port}/`);
      waiting.push(call);
      await Promise.race([promise, call]);
    };
    for (let count = 0; count < 15; count++) await begin();
    expect((await fetch(`https://localhost:${port}/`)).keys).toHaveLength(1);
    await begin();
    await expect(fetch(`https://localhost:${port}/`)).rejects.toThrow("too many downloads are running");
    for (const response of held) response.end(KEYS);
    await Promise.all(waiting);
    expect((await fetch(`https://localhost:${port}/`)).keys).toHaveLength(1);
  });

  it("refuses a text that is no key set", async () => {
    const { port } = await provider((_request, response) => response.end("<html>"));
    await expect(fetchInside()(`https://localhost:${port}/`)).rejects.toThrow("the download failed");
  });
});

describe("the URL of a key set", () => {
  const read = (text: string, allowsInside = false) => readOutsideUrl(text, { allowsInside })?.href;

  it("is https, and http only if inside addresses are allowed", () => {
    expect(read("https://login.example/jwks")).toBe("https://login.example/jwks");
    expect(read("http://login.example/jwks")).toBeUndefined();
    expect(read("http://localhost:3/jwks", true)).toBe("http://localhost:3/jwks");
    for (const text of ["file:///etc/passwd", "ftp://login.example/", "data:application/json,{}", "jwks", ""])
      expect(read(text, true)).toBeUndefined();
  });

  it("has no user, password or fragment, and at most 2048 characters", () => {
    for (const text of ["https://u@login.example/", "https://u:p@login.example/", "https://login.example/#x"])
      expect(read(text, true)).toBeUndefined();
    expect(read(`https://login.example/${"x".repeat(2_048)}`)).toBeUndefined();
  });

  it.each([
    ...[
      "https://127.0.0.1/",
      "https://127.1/",
      "https://2130706433/",
      "https://0x7f.0.0.1/",
      "https://017700000001/",
    ],
    ...["https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://169.254.169.254/latest", "https://0/"],
  ])("names no address inside: %s", (text) => {
    expect(read(text)).toBeUndefined();
  });
});

function deferred<T>() {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new Promise<T>((settle, fail) => {
    resolve = settle;
    reject = fail;
  });
  return { promise, resolve, reject };
}
