import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import { fetchJson } from "../../../../../src/service/billing/prices/price-readers.ts";
import { createManualClock, type ManualClock } from "../../../../support/manual-clock.ts";

let server: Server;
let url: string;
let clock: ManualClock;
beforeEach(async () => {
  clock = createManualClock();
  server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

it("gives up a silent source when 10 s have passed on its clock", async () => {
  const asked = once(server, "request");
  const answer = fetchJson(url, new AbortController().signal, { clock });
  await asked;
  clock.advance(9_999);
  expect(clock.timerCount).toBe(1);
  clock.advance(1);
  await expect(answer).rejects.toMatchObject({ name: "TimeoutError" });
});

it("limits the time of the body, too, and leaves no timer behind", async () => {
  server.on("request", (_, response) => response.write("["));
  const asked = once(server, "request");
  const halfAnswer = fetchJson(url, new AbortController().signal, { clock, timeoutMs: 5 });
  await asked;
  clock.advance(5);
  await expect(halfAnswer).rejects.toMatchObject({ name: "TimeoutError" });

  server.removeAllListeners("request").on("request", (_, response) => response.end("[1]"));
  expect(await fetchJson(url, new AbortController().signal, { clock })).toEqual([1]);
  expect(clock.timerCount).toBe(0);
});

it("reads 64 KiB, and no more", async () => {
  let length = 65_536;
  server.on("request", (_, response) => response.end(JSON.stringify("a".repeat(length - 2))));
  const answer = () => fetchJson(url, new AbortController().signal, { clock });
  expect(await answer()).toBe("a".repeat(65_534));
  length++;
  await expect(answer()).rejects.toThrow("more than 65536 bytes");
});
