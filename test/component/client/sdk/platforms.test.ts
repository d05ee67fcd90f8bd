/** The client on platforms whose fetch is not that of Node: no redirect mode `error`, no streams, redirects followed. */
import { once } from "node:events";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { nextTask } from "../../../../src/client/crypto/load-part.ts";
import { randomUuid } from "../../../../src/client/sdk/calls/service-calls.ts";
import { connectFullnode } from "../../../../src/client/sdk/chain/fullnode.ts";
import { createClient } from "../../../../src/client/sdk/index.ts";

const API_KEY = "tss_local_do_not_show";
let seen: string[];
let reply: RequestListener;
let server: Server;
let elsewhere: Server;
const urlOf = (one: Server) => `http://127.0.0.1:${(one.address() as AddressInfo).port}`;
const clientOf = (baseUrl: string) => createClient({ baseUrl, apiKey: API_KEY, network: "localnet" });

beforeEach(async () => {
  seen = [];
  server = createServer((request, response) => {
    seen.push(request.url ?? "");
    reply(request, response);
  }).listen(0, "127.0.0.1");
  elsewhere = createServer((request, response) => {
    seen.push(`elsewhere ${request.headers.authorization}`);
    response.setHeader("content-type", "application/proto").end();
  }).listen(0, "127.0.0.1");
  await Promise.all([once(server, "listening"), once(elsewhere, "listening")]);
});
afterEach(() => {
  vi.unstubAllGlobals();
  for (const one of [server, elsewhere]) one.close().closeAllConnections();
});

const failureOf = (call: Promise<unknown>): Promise<Error> =>
  call.then(
    () => new Error("it succeeded"),
    (error: Error) => error,
  );

describe("a base URL that is not the service's", () => {
  test.each([301, 302, 303, 307, 308])("is named after one call that HTTP %d redirects", async (status) => {
    reply = (_, response) => response.writeHead(status, { location: `${urlOf(elsewhere)}/x?a=b` }).end();
    expect(await failureOf(clientOf(urlOf(server)).balance())).toMatchObject({
      reason: "WRONG_URL",
      message: `the base URL is not the service's: it redirects to ${urlOf(elsewhere)}`,
      metadata: { status: String(status) },
    });
    expect(seen).toEqual(["/tss.v1.Billing/GetBalance"]);
  });

  test.each([
    [200, "text/html; charset=utf-8", "HTTP 200 and text/html"],
    [404, "text/html", "HTTP 404 and text/html"],
    [405, "", "HTTP 405 and no content type"],
    [200, "", "HTTP 200 and no content type"],
    [200, "application/json", "HTTP 200 and application/json"],
  ])("is named after one call that returns HTTP %d with %s", async (status, type, finding) => {
    reply = (_, response) =>
      response.writeHead(status, type === "" ? {} : { "content-type": type }).end("<html>");
    const failure = await failureOf(clientOf(urlOf(server)).balance());
    expect(failure).toMatchObject({ reason: "WRONG_URL", message: expect.stringContaining(finding) });
    expect(seen).toHaveLength(1);
  });

  test("is not the finding for a proxy that answers for a service that is down", async () => {
    reply = (_, response) => response.writeHead(502, { "content-type": "text/html" }).end("<html>");
    expect(await failureOf(clientOf(urlOf(server)).balance())).toMatchObject({ reason: "UNREACHABLE" });
  });

  test("leaves an action resumable, and its error does not show the key", async () => {
    reply = (_, response) => response.writeHead(302, { location: urlOf(elsewhere) }).end();
    const call = clientOf(urlOf(server)).onboard({ seed: new Uint8Array(32), curve: "ED25519" });
    const error = await failureOf(call);
    expect(error).toMatchObject({ reason: "WRONG_URL", resumeToken: expect.any(String) });
    expect(JSON.stringify(error) + String(error.stack)).not.toContain("do_not_show");
  });
});

/** A fetch as in Cloudflare Workers: it knows no redirect mode `error`. */
function withoutErrorMode(): void {
  const original = fetch;
  vi.stubGlobal("fetch", (input: string, init?: RequestInit) => {
    if (init?.redirect === "error") throw new TypeError("Invalid redirect value");
    return original(input, init);
  });
}

test("a fetch without the redirect mode `error` calls the service and follows no redirect", async () => {
  withoutErrorMode();
  reply = (_, response) => response.setHeader("content-type", "application/proto").end();
  expect(await clientOf(urlOf(server)).balance()).toMatchObject({ balanceMicroUsd: 0n });
  reply = (_, response) => response.writeHead(307, { location: urlOf(elsewhere) }).end();
  expect(await failureOf(clientOf(urlOf(server)).balance())).toMatchObject({ reason: "WRONG_URL" });
  expect(seen.filter((one) => one.startsWith("elsewhere"))).toEqual([]);
});

/** A fetch as in React Native: bodies are no streams, and every redirect is followed in silence. */
function reactNativeFetch(): void {
  const original = fetch;
  class PlainResponse {
    readonly body = undefined;
    readonly ok: boolean;
    readonly status: number;
    readonly url: string;
    readonly headers: Headers;
    readonly #bytes: ArrayBuffer;
    constructor(bytes: ArrayBuffer | string, from?: Response) {
      this.ok = from?.ok ?? true;
      this.status = from?.status ?? 200;
      this.url = from?.url ?? "";
      this.headers = from?.headers ?? new Headers();
      this.#bytes = typeof bytes === "string" ? new ArrayBuffer(0) : bytes;
    }
    arrayBuffer = async () => this.#bytes;
    json = async () => JSON.parse(new TextDecoder().decode(this.#bytes));
  }
  vi.stubGlobal("Response", PlainResponse);
  for (const missing of ["MessageChannel", "TransformStream"]) vi.stubGlobal(missing, undefined);
  vi.stubGlobal("crypto", { getRandomValues: crypto.getRandomValues.bind(crypto) });
  vi.stubGlobal("fetch", async (input: string, init?: RequestInit) => {
    const { redirect: _, ...known } = init ?? {};
    const answer = await original(input, known);
    return new PlainResponse(await answer.arrayBuffer(), answer);
  });
}

describe("a fetch without streams that follows every redirect", () => {
  test("calls the service, and refuses the reply to a redirected call", async () => {
    reactNativeFetch();
    reply = (_, response) => response.setHeader("content-type", "application/proto").end();
    expect(await clientOf(urlOf(server)).balance()).toMatchObject({ balanceMicroUsd: 0n });
    reply = (_, response) => response.writeHead(307, { location: urlOf(elsewhere) }).end();
    expect(await failureOf(clientOf(urlOf(server)).balance())).toMatchObject({ reason: "WRONG_URL" });
  });

  test("opens no stream, whose reply would come only at its end", async () => {
    reactNativeFetch();
    reply = (_, response) => response.setHeader("content-type", "application/connect+proto").end();
    const { watchSign } = clientOf(urlOf(server)).raw.signing;
    const read = async () => {
      for await (const _ of watchSign({ signRequestId: randomUuid() }));
    };
    expect((await failureOf(read())).message).toContain("does not stream");
    expect(seen).toEqual([]);
  });

  test("has random ids and turns of the event loop all the same", async () => {
    reactNativeFetch();
    expect(randomUuid()).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(randomUuid()).not.toBe(randomUuid());
    await nextTask();
  });

  test.each([
    ["by its own word", true],
    ["by its length", false],
  ])("reads a fullnode's reply, but none that is too large %s", async (_, isDeclared) => {
    reactNativeFetch();
    const { signal } = new AbortController();
    const ask = () => connectFullnode("localnet", urlOf(server)).chainIdentifier(signal);
    reply = (_request, response) =>
      response.setHeader("content-type", "application/grpc-web+proto").end(serviceInfo("chain"));
    expect(await ask()).toBe("chain");
    const large = Buffer.alloc(4 * 1024 * 1024 + 1);
    reply = (_request, response) => {
      response.setHeader("content-type", "application/grpc-web+proto");
      if (isDeclared) response.setHeader("content-length", large.length);
      response.write(large);
      response.end();
    };
    expect((await failureOf(ask())).message).toContain("too large");
  });
});

/** A reply of GetServiceInfo: field 1 is the chain's id. The trailer has status 0. */
function serviceInfo(chainId: string): Buffer {
  const text = Buffer.from(chainId);
  const message = Buffer.concat([Buffer.from([0x0a, text.length]), text]);
  const trailer = Buffer.from("grpc-status: 0\r\n");
  const frame = (kind: number, body: Buffer) =>
    Buffer.concat([Buffer.from([kind, 0, 0, 0, body.length]), body]);
  return Buffer.concat([frame(0, message), frame(0x80, trailer)]);
}
