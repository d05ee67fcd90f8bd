/** The service's native gRPC against servers of @grpc/grpc-js, and against broken ones. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import {
  constants,
  createServer,
  connect as http2Connect,
  type IncomingHttpHeaders,
  type ServerHttp2Stream,
} from "node:http2";
import { type AddressInfo, createServer as createTcpServer, type Socket } from "node:net";
import path from "node:path";
import {
  Metadata,
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from "@grpc/grpc-js";
import { GrpcTypes, GrpcWebFetchTransport, SuiGrpcClient } from "@mysten/sui/grpc";
import { afterEach, expect, it } from "vitest";
import { withNativeGrpc } from "../../../../src/protocol/chain/native-grpc.ts";
import { boundMessages } from "../../../../src/service/chain/fullnodes/bound-messages.ts";
import { createFullnodes } from "../../../../src/service/chain/fullnodes/fullnodes.ts";
import {
  createNetworkFetch,
  type NetworkFetch,
} from "../../../../src/service/chain/fullnodes/network-fetch.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";

const CERTIFICATE = readFileSync(
  path.resolve(import.meta.dirname, "../../../support/service/localhost.cert.pem"),
);
const KEY = readFileSync(path.resolve(import.meta.dirname, "../../../support/service/localhost.key.pem"));
const INFO = "/sui.rpc.v2.LedgerService/GetServiceInfo";
const NODE = [{ address: "127.0.0.1", family: 4 }];
const { GetServiceInfoResponse, SubscribeCheckpointsResponse } = GrpcTypes;

const endings: (() => unknown)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).toReversed()) await end();
});

type Handlers = {
  readonly info?: (call: ServerUnaryCall<Buffer, Buffer>) => Uint8Array;
  readonly checkpoints?: (call: ServerWritableStream<Buffer, Buffer>) => void;
};

/** Starts a fullnode of @grpc/grpc-js. */
async function serve({ info, checkpoints }: Handlers, credentials = ServerCredentials.createInsecure()) {
  const server = new Server();
  const octets = { requestSerialize: Buffer.from, requestDeserialize: Buffer.from };
  const both = { ...octets, responseSerialize: Buffer.from, responseDeserialize: Buffer.from };
  const named = { ...both, originalName: "" };
  server.addService(
    {
      info: { path: INFO, requestStream: false, responseStream: false, ...named },
      checkpoints: {
        path: "/sui.rpc.v2.SubscriptionService/SubscribeCheckpoints",
        requestStream: false,
        responseStream: true,
        ...named,
      },
    },
    {
      info(call: ServerUnaryCall<Buffer, Buffer>, reply: sendUnaryData<Uint8Array>) {
        try {
          reply(null, info!(call));
        } catch (error) {
          reply(error as Error);
        }
      },
      checkpoints: (call: ServerWritableStream<Buffer, Buffer>) => checkpoints!(call),
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync("127.0.0.1:0", credentials, (error, bound) => (error ? reject(error) : resolve(bound)));
  });
  endings.push(() => server.forceShutdown());
  return port;
}

function open(): NetworkFetch {
  const made = createNetworkFetch({ clock: systemClock, resolve: async () => NODE });
  endings.push(() => made.close());
  return made;
}

const clientOf = (baseUrl: string, fetch: typeof globalThis.fetch) =>
  new SuiGrpcClient({
    network: "localnet",
    transport: new GrpcWebFetchTransport({ baseUrl, format: "binary", fetch: boundMessages(fetch, 1_000) }),
  });
const infoOf = (chainId: string) => GetServiceInfoResponse.toBinary({ chainId });
const post = { method: "POST", body: new Uint8Array(5), headers: { "content-type": "application/grpc-web" } };

it("a call reaches a fullnode that speaks only native gRPC, by the network's own DNS, with path and metadata", async () => {
  const seen: unknown[] = [];
  const port = await serve({
    info(call) {
      seen.push(call.getPath(), call.metadata.get("x-sui-client-protocol-version").length);
      const head = new Metadata();
      head.set("x-sui-chain-id", "abcd0123");
      call.sendMetadata(head);
      return infoOf("the chain");
    },
  });
  const names: string[] = [];
  const network = createNetworkFetch({
    clock: systemClock,
    async resolve(name) {
      names.push(name);
      return NODE;
    },
  });
  endings.push(() => network.close());
  const { response, headers } = await clientOf(
    `grpc://fullnode.example:${port}`,
    network.fetch,
  ).ledgerService.getServiceInfo({});
  expect(response.chainId).toBe("the chain");
  expect(headers["x-sui-chain-id"]).toBe("abcd0123");
  expect(seen).toEqual([INFO, 1]);
  expect(names).toEqual(["fullnode.example"]);
});

it("a failure keeps its status and its text", async () => {
  const port = await serve({
    info() {
      throw Object.assign(new Error(), {
        code: status.NOT_FOUND,
        details: "100 % gone: naïve",
        metadata: undefined,
      });
    },
  });
  const call = clientOf(`grpc://node:${port}`, open().fetch).ledgerService.getServiceInfo({});
  await expect(call).rejects.toMatchObject({ code: "NOT_FOUND", message: "100 % gone: naïve" });
});

it("grpcs:// takes TLS, and refuses a certificate that it does not trust", async () => {
  const credentials = ServerCredentials.createSsl(null, [{ private_key: KEY, cert_chain: CERTIFICATE }]);
  const port = await serve({ info: () => infoOf("secure") }, credentials);
  const ask = (ca: Buffer | undefined) => {
    const native = withNativeGrpc(fetch, (origin) => http2Connect(origin, { ...(ca && { ca }) }));
    endings.push(() => native.close());
    return clientOf(`grpcs://localhost:${port}`, native.fetch).ledgerService.getServiceInfo({});
  };
  expect((await ask(CERTIFICATE)).response.chainId).toBe("secure");
  await expect(ask(undefined)).rejects.toThrow("fetch failed");
});

it("a stream yields its messages in order, and its signal ends it at the fullnode", async () => {
  let cancelled = () => {};
  const isCancelled = new Promise<void>((resolve) => {
    cancelled = resolve;
  });
  const port = await serve({
    checkpoints(call) {
      call.on("cancelled", cancelled);
      for (const cursor of [1n, 2n, 3n])
        call.write(Buffer.from(SubscribeCheckpointsResponse.toBinary({ cursor })));
    },
  });
  const stop = new AbortController();
  const call = clientOf(`grpc://node:${port}`, open().fetch).subscriptionService.subscribeCheckpoints(
    {},
    { abort: stop.signal },
  );
  for (const part of [call.headers, call.status, call.trailers]) part.catch(() => {});
  const seen: unknown[] = [];
  await expect(
    (async () => {
      for await (const { cursor } of call.responses) if (seen.push(cursor) === 3) stop.abort();
    })(),
  ).rejects.toMatchObject({ code: "CANCELLED" });
  expect(seen).toEqual([1n, 2n, 3n]);
  await isCancelled;
});

it("a message above the bound ends a stream before it is buffered", async () => {
  const port = await serve({
    checkpoints(call) {
      call.write(Buffer.alloc(2_000_000));
    },
  });
  const { responses, ...call } = clientOf(
    `grpc://node:${port}`,
    open().fetch,
  ).subscriptionService.subscribeCheckpoints({}, {});
  for (const part of [call.headers, call.status, call.trailers]) part.catch(() => {});
  await expect(responses[Symbol.asyncIterator]().next()).rejects.toThrow(
    "message of 2000000 bytes; the limit is 1000",
  );
});

/** Starts a raw HTTP/2 server in clear text. */
async function raw(answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void) {
  const server = createServer();
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => void sockets.add(socket));
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    answer(stream, headers);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  endings.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { server, sockets, url: `grpc://node:${(server.address() as AddressInfo).port}` };
}

const GRPC = { ":status": 200, "content-type": "application/grpc" };
const FRAME = Buffer.of(0, 0, 0, 0, 0);

it.each<[string, (stream: ServerHttp2Stream) => void, RegExp]>([
  [
    "a reply without a status",
    (stream) => {
      stream.respond(GRPC);
      stream.end(FRAME);
    },
    /without a status/,
  ],
  [
    "a reply that breaks off",
    (stream) => {
      stream.respond(GRPC);
      stream.write(FRAME, () => stream.close(2));
    },
    /./,
  ],
  [
    "a status before it sends anything",
    (stream) => stream.respond({ ...GRPC, "grpc-status": "14", "grpc-message": "busy" }, { endStream: true }),
    /^busy$/,
  ],
  ["HTTP 503", (stream) => stream.respond({ ":status": 503 }, { endStream: true }), /^HTTP 503$/],
  [
    "no gRPC",
    (stream) => {
      stream.respond({ ":status": 200, "content-type": "text/html" });
      stream.end("<p>");
    },
    /content type: text\/html/,
  ],
  ["an end of the connection", (stream) => stream.session!.destroy(), /^fetch failed/],
])("a call fails if the fullnode replies with %s", async (_, answer, text) => {
  const { url } = await raw(answer);
  await expect(clientOf(url, open().fetch).ledgerService.getServiceInfo({})).rejects.toThrow(text);
});

it("a reply that its reader cancels ends at the fullnode, which gets the code CANCEL", async () => {
  let ended = (_code: number) => {};
  const code = new Promise<number>((resolve) => {
    ended = resolve;
  });
  const { url } = await raw((stream) => {
    stream.on("close", () => ended(stream.rstCode));
    stream.respond(GRPC);
    stream.write(FRAME);
  });
  const { body } = await open().fetch(url + INFO, post);
  const reader = body!.getReader();
  expect((await reader.read()).done).toBe(false);
  await reader.cancel();
  expect(await code).toBe(constants.NGHTTP2_CANCEL);
});

it("a call has the caller's headers without those of gRPC-web, and its path and query", async () => {
  let seen: IncomingHttpHeaders = {};
  const { url } = await raw((stream, headers) => {
    seen = headers;
    stream.respond({ ...GRPC, "grpc-status": "0" }, { endStream: true });
  });
  const own = { "x-api-token": "own" };
  const web = {
    "content-type": "application/grpc-web",
    accept: "application/grpc-web",
    "x-grpc-web": "1",
    "x-user-agent": "grpc-web-javascript",
    te: "gzip",
  };
  await open().fetch(`${url}${INFO}?key=1`, { ...post, headers: { ...web, ...own } });
  const { ":authority": _, ":scheme": __, ...sent } = seen;
  // Node adds a symbol.
  expect(Object.fromEntries(Object.entries(sent))).toEqual({
    ...{ ":method": "POST", ":path": `${INFO}?key=1` },
    ...{ "content-type": "application/grpc", te: "trailers", ...own },
  });
});

it.each([204, 205, 304])("a reply with the status %i has no body", async (status) => {
  const { url } = await raw((stream) => stream.respond({ ":status": status }, { endStream: true }));
  const reply = await open().fetch(url + INFO, post);
  expect([reply.status, reply.body]).toEqual([status, null]);
});

it("calls share a connection, and take a new one when the fullnode ends it", async () => {
  const { server, sockets, url } = await raw((stream) => {
    stream.respond({ ...GRPC, "grpc-status": "0" });
    stream.end(FRAME);
  });
  const { fetch } = open();
  const ask = async () => (await fetch(url + INFO, post)).text();
  await ask();
  await Promise.all([ask(), ask(), ask()]);
  expect(sockets.size).toBe(1);
  const [first] = sockets;
  const gone = once(first!, "close");
  first!.destroy();
  await gone;
  // The call that finds the connection dead may fail; its successor has a new one.
  await ask().catch(() => {});
  await ask();
  expect(sockets.size).toBe(2);
  server.close();
});

it("a call after one without an answer takes a new connection, because the old one may be dead", async () => {
  const silent = createTcpServer();
  const accepted: Socket[] = [];
  silent.on("connection", (socket) => {
    accepted.push(socket);
    socket.on("error", () => {}).resume();
    silent.emit(`accepted ${accepted.length}`);
  });
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  endings.push(() => {
    for (const socket of accepted) socket.destroy();
    silent.close();
  });
  const url = `grpc://node:${(silent.address() as AddressInfo).port}${INFO}`;
  const { fetch } = open();
  for (const at of [1, 2]) {
    const stop = new AbortController();
    const arrived = once(silent, `accepted ${at}`);
    const call = fetch(url, { ...post, signal: stop.signal });
    const end = expect(call).rejects.toThrow(`stop ${at}`);
    await arrived;
    // The client has seen its connection open once the request's bytes are here.
    await once(accepted.at(-1)!, "data");
    stop.abort(new Error(`stop ${at}`));
    await end;
  }
  expect(accepted).toHaveLength(2);
});

it("calls end with their connections, and none begins once the network is closed", async () => {
  let arrived = () => {};
  const hasArrived = new Promise<void>((resolve) => {
    arrived = resolve;
  });
  const { url } = await raw(() => arrived());
  const { fetch, close } = open();
  const end = expect(fetch(url + INFO, post)).rejects.toThrow("fetch failed");
  await hasArrived;
  await close();
  await end;
  await expect(fetch(url + INFO, post)).rejects.toThrow("fetch failed");
});

it("fullnodes of both protocols stand in for each other, and one of another chain gets no calls", async () => {
  const other = await serve({ info: () => infoOf("another chain") });
  const right = await serve({ info: () => infoOf("chain") });
  const { fetch: send } = open();
  const urls = ["http://node:1", `grpc://node:${other}`, `grpc://node:${right}`];
  const fullnodes = createFullnodes({
    urls,
    send,
    clock: systemClock,
    chain: "chain",
    async chainOf(url) {
      const { response } = await clientOf(url, send).ledgerService.getServiceInfo({});
      return response.chainId ?? "";
    },
  });
  const { response } = await clientOf(urls[0]!, fullnodes.fetch).ledgerService.getServiceInfo({});
  expect(response.chainId).toBe("chain");
  expect(fullnodes.statuses().map(({ host, isServing }) => [host, isServing])).toEqual([
    ["node:1", false],
    [`node:${other}`, false],
    [`node:${right}`, true],
  ]);
});
