/** Two networks' fetch functions against servers of their own. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  createNetworkFetch,
  type NetworkFetch,
} from "../../../../src/service/chain/fullnodes/network-fetch.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";

const HERE = [{ address: "127.0.0.1", family: 4 }];
let server: Server;
let port: number;
const opened: NetworkFetch[] = [];

beforeEach(async () => {
  server = createServer((request, response) => {
    if (request.url === "/hangs") return;
    if (request.url === "/moved") response.writeHead(307, { location: "http://other.example/" });
    else response.write("first ");
    if (request.url !== "/stream") response.end("last");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ({ port } = server.address() as AddressInfo);
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((one) => one.close()));
  server.closeAllConnections();
  server.close();
  await once(server, "close");
});

function open(resolve: (hostname: string) => Promise<typeof HERE>): NetworkFetch {
  const made = createNetworkFetch({ clock: systemClock, resolve });
  opened.push(made);
  return made;
}

const url = (path = "/", host = "fullnode.example") => `http://${host}:${port}${path}`;

it("opens new connections of one network while no name of the other one resolves", async () => {
  let begin = () => {};
  const begun = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const never = open(() => {
    begin();
    return new Promise(() => {});
  });
  const other = open(async () => HERE);
  const stuck = Array.from({ length: 20 }, (_, at) => never.fetch(url("/", `host-${at}.example`)));
  const ends = Promise.allSettled(stuck);
  await begun;
  const bodies = [1, 2, 3].map(async (at) => (await other.fetch(url("/", `host-${at}.example`))).text());
  expect(await Promise.all(bodies)).toEqual(["first last", "first last", "first last"]);
  await never.close();
  expect((await ends).map(({ status }) => status)).toEqual(stuck.map(() => "rejected"));
});

it("keeps to its server when the name no longer resolves", async () => {
  let isGone = false;
  const names: string[] = [];
  const { fetch } = open(async (hostname) => {
    names.push(hostname);
    if (isGone) throw new Error("no such name");
    return HERE;
  });
  await (await fetch(url())).text();
  isGone = true;
  server.closeAllConnections();
  expect(await (await fetch(url())).text()).toBe("first last");
  expect(names).toEqual(["fullnode.example", "fullnode.example"]);
});

it("refuses to follow a redirect to a host that nobody configured", async () => {
  const names: string[] = [];
  const { fetch } = open(async (hostname) => {
    names.push(hostname);
    return HERE;
  });
  await expect(fetch(url("/moved"), { redirect: "follow" })).rejects.toThrow("fetch failed");
  expect(names).toEqual(["fullnode.example"]);
});

it("yields a stream as it comes, and ends it by its signal", async () => {
  const { fetch } = open(async () => HERE);
  const stop = new AbortController();
  const streamed = await fetch(url("/stream"), { method: "POST", signal: stop.signal });
  const reader = streamed.body!.getReader();
  expect(new TextDecoder().decode((await reader.read()).value)).toBe("first ");
  stop.abort();
  await expect(reader.read()).rejects.toThrow("aborted");
});

it("ends its connections and begins no call once it is closed", async () => {
  const { fetch, close } = open(async () => HERE);
  const arrived = once(server, "request");
  const end = expect(fetch(url("/hangs"))).rejects.toThrow("fetch failed");
  await arrived;
  await close();
  await end;
  await expect(fetch(url())).rejects.toThrow("fetch failed");
});
