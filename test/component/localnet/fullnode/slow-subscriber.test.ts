/** A subscriber that does not read, beside others that do. */
import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect } from "node:http2";
import { afterEach, beforeEach, expect, it } from "vitest";
import {
  MAX_UNREAD_BYTES,
  type OutgoingStream,
  type StreamingMethod,
} from "../../../../src/localnet/fullnode/wire/node-methods.ts";
import { type FullnodeServer, startFullnodeServer } from "../../../../src/localnet/fullnode/wire/server.ts";

const MEBIBYTE = 1024 * 1024;
const MESSAGE = new Uint8Array(MEBIBYTE);
/** More than a stream and the buffers of its connection hold. */
const MESSAGES_MAX = 4 * (MAX_UNREAD_BYTES / MEBIBYTE);
const PATH = "/test.Service/Follow";
/** A request without fields. */
const EMPTY = Buffer.alloc(5);

let server: FullnodeServer;
/** The streams that the node has not ended, in the order of their requests. */
let opened: OutgoingStream[];
let onOpen: () => void;

beforeEach(async () => {
  opened = [];
  const follow: StreamingMethod = {
    path: PATH,
    open(_request, stream) {
      opened.push(stream);
      onOpen();
      return () => void opened.splice(opened.indexOf(stream), 1);
    },
  };
  server = await startFullnodeServer({
    ...{ host: "127.0.0.1", port: 0, chainId: "chain", routes: [], log: () => {} },
    answerCall: async () => ({ message: new Uint8Array(), status: { code: 0, message: "" } }),
    streamingMethods: [follow],
  });
});
afterEach(() => server.close());

/** Begins a stream over gRPC-web whose reply nobody reads yet. */
async function followWeb(): Promise<IncomingMessage> {
  const request = httpRequest(`${server.url}${PATH}`, {
    method: "POST",
    headers: { "content-type": "application/grpc-web+proto" },
  });
  request.end(EMPTY);
  const [response] = (await once(request, "response")) as [IncomingMessage];
  response.on("error", () => {});
  return response;
}

/** Begins a stream over native gRPC whose reply nobody reads. Returns what closes its connection. */
async function followNative(): Promise<() => void> {
  const session = connect(server.url);
  session.on("error", () => {});
  const stream = session.request({ ":method": "POST", ":path": PATH, "content-type": "application/grpc" });
  stream.on("error", () => {});
  stream.end(EMPTY);
  await once(stream, "response");
  return () => session.destroy();
}

it.each([
  [
    "gRPC-web",
    async () => {
      const response = await followWeb();
      return () => void response.destroy();
    },
  ],
  ["native gRPC", followNative],
])(
  "a subscriber that does not read over %s is ended, and starves nobody",
  async (_, follow) => {
    const begun = () => new Promise<void>((resolve) => (onOpen = resolve));
    const slowBegun = begun();
    const [close] = await Promise.all([follow(), slowBegun]);
    const slow = opened[0]!;
    const reader = await followWeb();
    let readBytes = 0;
    let onRead = () => {};
    reader.on("data", (chunk: Buffer) => {
      readBytes += chunk.length;
      onRead();
    });
    const hasRead = (byteCount: number) =>
      new Promise<void>((resolve) => {
        onRead = () => readBytes >= byteCount && resolve();
        onRead();
      });

    let sentCount = 0;
    while (opened.includes(slow) && sentCount < MESSAGES_MAX) {
      for (const stream of [...opened]) stream.send(MESSAGE);
      await hasRead(++sentCount * MEBIBYTE);
    }
    expect(opened).not.toContain(slow);
    expect(sentCount * MEBIBYTE).toBeGreaterThan(MAX_UNREAD_BYTES);
    const answer = await fetch(`${server.url}/test.Service/Call`, {
      method: "POST",
      headers: { "content-type": "application/grpc-web+proto" },
      body: EMPTY,
    });
    expect(Buffer.from(await answer.arrayBuffer()).toString("latin1")).toContain("grpc-status:0");
    opened[0]!.send(MESSAGE);
    await hasRead((sentCount + 1) * MEBIBYTE);
    close();
    reader.destroy();
  },
  60_000,
);
