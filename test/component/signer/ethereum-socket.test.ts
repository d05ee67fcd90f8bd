/** JSON-RPC on a Unix socket without HTTP, over calls whose replies the test gives. */
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Caller, EVERYONE } from "../../../src/signer/access/caller.ts";
import type { EthereumCalls } from "../../../src/signer/ethereum/ethereum-calls.ts";
import { type EthereumSocket, serveEthereumSocket } from "../../../src/signer/ethereum/serve-socket.ts";
import { SignerError } from "../../../src/signer/signer-error.ts";

const BOUNDS = { connectionsCount: 2, callsCount: 2, callBytes: 200, callTimeoutMs: 60_000 };
const DRAIN_MS = 30_000;

interface Running {
  readonly body: string;
  readonly signal: AbortSignal;
  reply(text: string | undefined): void;
}

let folder: string;
let file: string;
let running: Running[];
let begun: (() => void)[];
let socket: EthereumSocket;
let caller: Caller;
let refusal: Error | undefined;
const identify = (): Caller => {
  if (refusal !== undefined) throw refusal;
  return caller;
};
const calls: EthereumCalls = {
  serve: (body, { signal }) =>
    new Promise((resolve) => {
      running.push({ body: Buffer.from(body).toString(), signal, reply: resolve });
      for (const tell of begun.splice(0)) tell();
    }),
};
beforeEach(async () => {
  folder = mkdtempSync(path.join(tmpdir(), "ethereum-socket-"));
  file = path.join(folder, "e.sock");
  [running, begun] = [[], []];
  [caller, refusal] = [EVERYONE, undefined];
  socket = await serveEthereumSocket(file, calls, identify, BOUNDS);
});
afterEach(async () => {
  await socket.close(0);
  rmSync(folder, { recursive: true });
});

/** Resolves when this many calls have begun. */
async function callsBegun(count: number): Promise<void> {
  while (running.length < count) await new Promise<void>((resolve) => begun.push(resolve));
}

async function open(): Promise<{ readonly client: Socket; next(): Promise<string | undefined> }> {
  const client = connect({ path: file, allowHalfOpen: true });
  await once(client, "connect");
  const lines = createInterface({ input: client })[Symbol.asyncIterator]();
  return { client, next: async () => (await lines.next()).value as string | undefined };
}

describe("the socket", () => {
  it("is the user's alone, and is gone after a stop", async () => {
    expect(statSync(file).mode & 0o777).toBe(0o600);
    await socket.close(DRAIN_MS);
    expect(existsSync(file)).toBe(false);
  });

  it("serves nobody without a caller of its own, also on a connection that has one no more", async () => {
    const { client, next } = await open();
    client.write('{"id":1}');
    await callsBegun(1);
    running[0]!.reply("answered");
    expect(await next()).toBe("answered");
    refusal = new SignerError("MISSING_TOKEN", "no token was sent");
    client.write('{"id":2}');
    expect(JSON.parse((await next()) ?? "")).toMatchObject({ error: { message: "no token was sent" } });
    expect(await next()).toBeUndefined();
    expect(running).toHaveLength(1);
  });

  it("answers calls that arrive together or in pieces, each on a line, in the order of their ends", async () => {
    const { client, next } = await open();
    client.write('{"id":1}{"i');
    client.write('d":2}');
    await callsBegun(2);
    expect(running.map(({ body }) => body)).toEqual(['{"id":1}', '{"id":2}']);
    running[1]!.reply("second");
    expect(await next()).toBe("second");
    running[0]!.reply("first");
    expect(await next()).toBe("first");
  });

  it("begins no more calls of a connection than its bound, and the next one when one ends", async () => {
    const { client, next } = await open();
    client.write("[1][2][3]");
    await callsBegun(2);
    expect(running).toHaveLength(2);
    running[0]!.reply("one");
    await callsBegun(3);
    expect(await next()).toBe("one");
    expect(running[2]!.body).toBe("[3]");
  });

  it.each([
    ["POST / HTTP/1.1", "object or array"],
    [`["${"x".repeat(300)}"]`, "more than 200 bytes"],
  ])("answers %.20s with an error and closes the connection", async (sent, message) => {
    const client = connect(file);
    client.write(sent);
    const reply = JSON.parse(await text(client)) as object;
    expect(reply).toMatchObject({
      id: null,
      error: { code: -32_600, message: expect.stringContaining(message) },
    });
    expect(running).toEqual([]);
  });

  it("closes a connection above its bound at once", async () => {
    const kept = [await open(), await open()];
    const third = connect(file);
    expect(await text(third)).toBe("");
    kept[0]!.client.write("[]");
    await callsBegun(1);
  });

  it("answers a caller that has ended its side", async () => {
    const { client, next } = await open();
    client.end("[1]");
    await callsBegun(1);
    running[0]!.reply("late");
    expect([await next(), await next()]).toEqual(["late", undefined]);
  });

  it("ends the other calls of a caller when a reply does not reach it", async () => {
    const { client } = await open();
    client.write("[1][2]");
    await callsBegun(2);
    const ended = once(running[1]!.signal, "abort");
    client.destroy();
    running[0]!.reply("nobody reads this");
    await ended;
  });

  it("that stops answers the calls under way, and begins none", async () => {
    const { client, next } = await open();
    client.write("[1]");
    await callsBegun(1);
    const closed = socket.close(DRAIN_MS);
    client.write("[2]");
    running[0]!.reply("the last");
    expect([await next(), await next()]).toEqual(["the last", undefined]);
    await closed;
    expect(running).toHaveLength(1);
  });
});
