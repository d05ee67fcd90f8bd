import { setTimeout as sleep } from "node:timers/promises";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { Health } from "../../gen/proto/grpc/health/v1/health_pb.ts";
import { Signing } from "../../gen/proto/tss/v1/signing_pb.ts";
import { PARAMETERS_SHA256, UUID } from "../component/transport/fake-services.ts";
import { openRaw, rawRequest } from "../component/transport/raw-socket.ts";
import { TestService } from "../fuzz/endpoints.ts";
import { makeCase } from "../fuzz/make-case.ts";
import { runCase } from "../fuzz/run-case.ts";

export interface SoakedServer {
  readonly url: string;
  readonly port: number;
}

/** An activity of clients. Throws if the server misbehaves. */
export type Activity = (server: SoakedServer) => Promise<void>;

interface StreamClient {
  unaryCall(request: object, options: object): Promise<unknown>;
  streamingOutputCall(request: object, options: object): AsyncIterable<unknown>;
}

const MESSAGES_COUNT = 3;
const PATIENCE_MS = 20;
const SLOWNESS_MS = 150;
const OVERSIZE_BYTES = 100_000;
const CASES_COUNT = 20;
let nextCase = 0;

/** The activities of a soak's clients, by name. */
export const ACTIVITIES: Readonly<Record<string, Activity>> = {
  "unary calls": (server) =>
    withTransports(server, async (transport) => {
      const { signRequestId } = await createClient(Signing, transport).getSign({ signRequestId: UUID });
      if (signRequestId !== UUID) throw new Error("a wrong reply");
    }),
  "REST calls": async ({ url }) => {
    const reply = await fetch(`${url}/v1/sign/${UUID}`);
    if (reply.status !== 200) throw new Error(await reply.text());
    await reply.arrayBuffer();
  },
  "streams that clients leave": (server) =>
    withTransports(server, async (transport) => {
      const left = new AbortController();
      let count = 0;
      try {
        for await (const _ of streams(transport).streamingOutputCall(
          { hang: true },
          { signal: left.signal },
        )) {
          if (++count === MESSAGES_COUNT) left.abort();
        }
      } catch (reason) {
        if (count < MESSAGES_COUNT) throw reason;
      }
    }),
  "calls that clients give up": (server) =>
    withTransports(server, async (transport) => {
      await streams(transport)
        .unaryCall({ hang: true }, { signal: AbortSignal.timeout(PATIENCE_MS) })
        .catch(() => {});
    }),
  "slow readers": async ({ port }) => {
    const raw = await openRaw(port);
    raw.socket.write(rawRequest("GET", `/v1/protocol-parameters/${PARAMETERS_SHA256}`));
    raw.socket.pause();
    await sleep(SLOWNESS_MS);
    raw.socket.destroy();
  },
  "halves of requests": async ({ port }) => {
    const raw = await openRaw(port);
    raw.socket.write(
      rawRequest("POST", "/v1/sign", { "content-type": "application/json", "content-length": "9" }, "{"),
    );
    await raw.closed();
  },
  "bodies that are too large": async ({ url }) => {
    const body = "x".repeat(OVERSIZE_BYTES);
    const reply = await fetch(`${url}/v1/sign`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body,
    });
    if (reply.status !== 413) throw new Error(`${reply.status} for too large a body`);
    await reply.arrayBuffer();
  },
  "connections that idle": async ({ port }) => {
    const raw = await openRaw(port);
    raw.socket.write(rawRequest("GET", "/v1/network"));
    await raw.closed();
  },
  watches: async ({ url }) => {
    const manager = new Http2SessionManager(url);
    const client = createClient(Health, createGrpcTransport({ baseUrl: url, sessionManager: manager }));
    const left = new AbortController();
    try {
      for await (const _ of client.watch({}, { signal: left.signal })) {
        await sleep(SLOWNESS_MS);
        left.abort();
      }
    } catch (reason) {
      if (!left.signal.aborted) throw reason;
    } finally {
      manager.abort();
    }
  },
  "malformed conversations": async ({ port }) => {
    const cases = Array.from({ length: CASES_COUNT }, () => makeCase(1, nextCase++));
    const outcomes = await Promise.all(cases.map((one) => runCase(one, port, false)));
    const hanging = outcomes.find(({ hasEnded }) => !hasEnded);
    if (hanging !== undefined) throw new Error(`case ${hanging.case.number} of seed 1 hangs`);
  },
};

/** Runs a function over each protocol and closes the connections. */
async function withTransports(
  { url }: SoakedServer,
  act: (transport: Transport) => Promise<void>,
): Promise<void> {
  const options = { baseUrl: url };
  const managers = [new Http2SessionManager(url), new Http2SessionManager(url)] as const;
  const transports = [
    createGrpcTransport({ ...options, sessionManager: managers[0] }),
    createConnectTransport({ ...options, httpVersion: "2", sessionManager: managers[1] }),
    createConnectTransport({ ...options, httpVersion: "1.1", useBinaryFormat: false }),
    createGrpcWebTransport({ ...options, httpVersion: "1.1" }),
  ];
  try {
    await Promise.all(transports.map(act));
  } finally {
    for (const manager of managers) manager.abort();
  }
}

function streams(transport: Transport): StreamClient {
  return createClient(TestService, transport) as unknown as StreamClient;
}
