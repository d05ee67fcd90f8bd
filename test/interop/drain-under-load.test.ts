import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import path from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Client, credentials, type ServiceError, status } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { GetSignRequestSchema, Signing, SignRequestSchema } from "../../gen/proto/tss/v1/signing_pb.ts";
import { programEnvironment } from "../support/environment.ts";
import { UUID } from "../unit/transport/fake-services.ts";
import type { DrainReport } from "./drained-service.ts";

const CALLERS_PER_PROTOCOL = 50;

/** One call; resolves with whether it was answered, or `"refused"` when the server did not begin it. */
type Call = () => Promise<"answered" | "refused">;

/** What clients say of a port that is closed or just closing, and of a stream above the last one that is served. */
const REFUSALS = /ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|NGHTTP2_REFUSED_STREAM/;

function isRefused(error: unknown): boolean {
  if (REFUSALS.test(String(error))) return true;
  return error instanceof Error && error.cause !== undefined && isRefused(error.cause);
}

function connectCall(transport: Transport): Call {
  const client = createClient(Signing, transport);
  return async () => {
    try {
      await client.getSign({ signRequestId: UUID });
      return "answered";
    } catch (error) {
      if (isRefused(error)) return "refused";
      throw error;
    }
  };
}

/** HTTP/1.1 with connections that are kept, as most callers have. */
function restCall(url: string, agent: Agent): Call {
  return () =>
    new Promise((resolve, reject) => {
      const call = request(`${url}/v1/sign/${UUID}`, { agent }, (reply) => {
        reply.resume();
        reply.on("end", () =>
          reply.statusCode === 200 ? resolve("answered") : reject(new Error(`status ${reply.statusCode}`)),
        );
        reply.on("error", reject);
      });
      call.on("error", (error) => (isRefused(error) ? resolve("refused") : reject(error)));
      call.end();
    });
}

function grpcJsCall(client: Client): Call {
  return () =>
    new Promise((resolve, reject) => {
      client.makeUnaryRequest(
        "/tss.v1.Signing/GetSign",
        (message) => Buffer.from(toBinary(GetSignRequestSchema, message)),
        (bytes) => fromBinary(SignRequestSchema, bytes),
        create(GetSignRequestSchema, { signRequestId: UUID }),
        (error: ServiceError | null) => {
          if (error === null) resolve("answered");
          else if (error.code === status.UNAVAILABLE && isRefused(error.details)) resolve("refused");
          else reject(error);
        },
      );
    });
}

it("SIGTERM breaks no call that was begun, with fifty callers of each protocol that go on calling", async () => {
  const child: ChildProcess = fork(path.join(import.meta.dirname, "drained-service.ts"), [], {
    execArgv: ["--import", "tsx"],
    env: programEnvironment,
  });
  const [{ url }] = (await once(child, "message")) as [{ url: string }];
  const agent = new Agent({ keepAlive: true });
  const grpcJs = new Client(new URL(url).host, credentials.createInsecure());
  const calls: Record<string, Call> = {
    "REST over HTTP/1.1": restCall(url, agent),
    "Connect over HTTP/1.1": connectCall(createConnectTransport({ baseUrl: url, httpVersion: "1.1" })),
    "Connect over HTTP/2": connectCall(createConnectTransport({ baseUrl: url, httpVersion: "2" })),
    "gRPC-web over HTTP/1.1": connectCall(createGrpcWebTransport({ baseUrl: url, httpVersion: "1.1" })),
    "gRPC by connect-node": connectCall(createGrpcTransport({ baseUrl: url })),
    "gRPC by grpc-js": grpcJsCall(grpcJs),
  };
  const answered: Record<string, number> = {};
  const broken: string[] = [];
  let goOn = () => {};
  const warm = new Promise<void>((resolve) => {
    goOn = () => {
      if (Object.keys(calls).every((name) => (answered[name] ?? 0) >= CALLERS_PER_PROTOCOL)) resolve();
    };
  });
  const callers = Object.entries(calls).flatMap(([name, call]) =>
    Array.from({ length: CALLERS_PER_PROTOCOL }, async () => {
      try {
        while ((await call()) === "answered") {
          answered[name] = (answered[name] ?? 0) + 1;
          goOn();
        }
      } catch (error) {
        broken.push(`${name}: ${String(error)}`);
        goOn();
      }
    }),
  );
  await warm;
  const told = once(child, "message");
  child.kill("SIGTERM");
  const [{ isClean, begunCount }] = (await told) as [DrainReport];
  await Promise.all(callers);
  agent.destroy();
  grpcJs.close();
  expect(broken).toEqual([]);
  expect(isClean).toBe(true);
  // Each call that was begun was answered, so that a refused one may be made again elsewhere.
  expect(Object.values(answered).reduce((sum, count) => sum + count)).toBe(begunCount);
});
