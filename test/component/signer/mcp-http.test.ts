/** The Model Context Protocol over HTTP: who may call it, and with what. */
import { request as startRequest } from "node:http";
import { text } from "node:stream/consumers";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Secret } from "../../../src/service/platform/telemetry/secret.ts";
import type { McpTools } from "../../../src/signer/mcp/mcp-tools.ts";
import { serveHttp } from "../../../src/signer/mcp/serve-http.ts";
import { createLatch } from "../transport/fake-services.ts";

const TOKEN = "0123456789abcdef0123456789abcdef";
const authorization = `Bearer ${TOKEN}`;
const calls: string[] = [];
let onAbort = () => {};
let awaited: { readonly count: number; readonly resolve: () => void } | undefined;
let latch: ReturnType<typeof createLatch> | undefined;
const tools: McpTools = {
  list: [
    {
      name: "echo",
      description: "Echoes.",
      inputSchema: { type: "object" },
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
  ],
  async call(name, args, signal) {
    calls.push(name);
    signal.addEventListener("abort", () => onAbort());
    if (calls.length === awaited?.count) awaited.resolve();
    await latch?.wait();
    return { isError: false, value: args };
  },
};
let running: Awaited<ReturnType<typeof serveHttp>>;
beforeAll(async () => {
  running = await serveHttp(tools, "1.0.0", { port: 0, token: new Secret(TOKEN) });
});
afterAll(() => running.close());

const message = {
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name: "echo", arguments: { a: 1 } },
};
const accept = "application/json, text/event-stream";
const usual = { authorization, accept, "content-type": "application/json" };

describe("the server", () => {
  it("serves the SDK's own client with the token, over and over", async () => {
    for (const _ of [1, 2]) {
      const client = new Client({ name: "test", version: "1" });
      const requestInit = { headers: { authorization } };
      const transport = new StreamableHTTPClientTransport(new URL(running.url), { requestInit });
      await client.connect(transport as Transport);
      expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["echo"]);
      const { content } = await client.callTool({ name: "echo", arguments: { a: 1 } });
      expect(content).toEqual([{ type: "text", text: JSON.stringify({ a: 1 }, undefined, 1) }]);
      await client.close();
    }
  });

  it.each([
    ["without a token", { authorization: "" }, 401],
    ["with another token", { authorization: `${authorization}0` }, 401],
    ["from a page of a browser", { origin: "http://localhost:8080" }, 403],
    ["from a page without an origin", { origin: "null" }, 403],
    ["by a name that somebody has pointed at this machine", { host: "evil.example" }, 403],
    ["by a name that begins like this machine", { host: "localhost.evil.example" }, 403],
  ])("refuses a call %s before it reads it", async (_, headers, status) => {
    const before = calls.length;
    const reply = await send({ ...usual, ...headers }, JSON.stringify(message));
    expect([reply.status, calls.length]).toEqual([status, before]);
    expect(reply.body).not.toContain(TOKEN);
  });

  it.each([
    ["a batch", JSON.stringify([message, message]), 400],
    ["what is no JSON", "{", 400],
    ["too long a body", JSON.stringify({ ...message, pad: "x".repeat(300_000) }), 413],
  ])("refuses %s", async (_, body, status) => {
    const before = calls.length;
    expect((await send(usual, body)).status).toBe(status);
    expect(calls.length).toBe(before);
  });

  it("has no sessions and no streams, and only one path", async () => {
    const send = (method: string, url = running.url) =>
      fetch(url, { method, headers: { authorization, accept } });
    expect((await send("GET")).status).toBe(405);
    expect((await send("DELETE")).status).toBe(405);
    expect((await send("POST", running.url.replace("/mcp", "/"))).status).toBe(404);
    const reply = await fetch(running.url, { method: "POST", headers: usual, body: JSON.stringify(message) });
    expect(reply.headers.get("mcp-session-id")).toBeNull();
  });

  it("runs a bounded number of calls", async () => {
    latch = createLatch();
    const all = Array.from({ length: 16 }, () => send(usual, JSON.stringify(message)));
    await new Promise<void>((resolve) => {
      awaited = { count: calls.length + 16, resolve };
    });
    expect((await send(usual, JSON.stringify(message))).status).toBe(503);
    latch.open();
    latch = undefined;
    expect((await Promise.all(all)).map(({ status }) => status)).toEqual(
      Array.from({ length: 16 }, () => 200),
    );
  });

  it("ends the calls of an agent that leaves, which keep no place", async () => {
    latch = createLatch();
    const begun = new Promise<void>((resolve) => {
      awaited = { count: calls.length + 16, resolve };
    });
    const leaving = Array.from({ length: 16 }, () => {
      const request = startRequest(running.url, { method: "POST", headers: usual });
      request.on("error", () => {});
      return request.end(JSON.stringify(message));
    });
    await begun;
    const ended = new Promise<void>((resolve) => {
      let count = 0;
      onAbort = () => void (++count === 16 && resolve());
    });
    for (const request of leaving) request.destroy();
    await ended;
    expect((await send(usual, JSON.stringify({ ...message, method: "tools/list" }))).status).toBe(200);
    latch.open();
    latch = undefined;
  });
});

/** `fetch` does not send another host or origin. */
function send(headers: Record<string, string>, body: string): Promise<{ status: number; body: string }> {
  return new Promise((resolve, reject) => {
    const request = startRequest(running.url, { method: "POST", headers }, (reply) => {
      text(reply).then((read) => resolve({ status: reply.statusCode!, body: read }), reject);
    });
    request.on("error", reject);
    request.end(body);
  });
}
