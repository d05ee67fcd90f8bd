import { type ChildProcess, fork } from "node:child_process";
import { EventEmitter, once } from "node:events";
import { Agent, request } from "node:http";
import path from "node:path";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from "@connectrpc/connect-node";
import { Client, credentials, type ServiceError } from "@grpc/grpc-js";
import { expect, it } from "vitest";
import { GetSignRequestSchema, Signing, SignRequestSchema } from "../../gen/proto/tss/v1/signing_pb.ts";
import { UUID } from "../component/transport/fake-services.ts";
import { programEnvironment } from "../support/environment.ts";
import type { DrainReport } from "./drained-service.ts";

const CALLERS_PER_PROTOCOL = 50;

/** Makes one call. Resolves with whether it got a reply, or with the error that ended it. */
type Call = () => Promise<"answered" | Error>;

function connectCall(transport: Transport): Call {
  const client = createClient(Signing, transport);
  return async () => {
    try {
      await client.getSign({ signRequestId: UUID });
      return "answered";
    } catch (error) {
      return error as Error;
    }
  };
}

/** HTTP/1.1 with keep-alive connections, as most callers use it. */
function restCall(url: string, agent: Agent): Call {
  return () =>
    new Promise((resolve) => {
      const call = request(`${url}/v1/sign/${UUID}`, { agent }, (reply) => {
        reply.resume();
        reply.on("end", () =>
          resolve(reply.statusCode === 200 ? "answered" : new Error(`status ${reply.statusCode}`)),
        );
        reply.on("error", resolve);
      });
      call.on("error", resolve);
      call.end();
    });
}

function grpcJsCall(client: Client): Call {
  return () =>
    new Promise((resolve) => {
      client.makeUnaryRequest(
        "/tss.v1.Signing/GetSign",
        (message) => Buffer.from(toBinary(GetSignRequestSchema, message)),
        (bytes) => fromBinary(SignRequestSchema, bytes),
        create(GetSignRequestSchema, { signRequestId: UUID }),
        (error: ServiceError | null) => resolve(error ?? "answered"),
      );
    });
}

it("SIGTERM breaks no open call while fifty callers of each protocol continue to call", async () => {
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
  const ended: string[] = [];
  const warm = new EventEmitter();
  const isWarm = once(warm, "warm");
  let isTold = false;
  const callers = Object.entries(calls).flatMap(([name, call]) =>
    Array.from({ length: CALLERS_PER_PROTOCOL }, async () => {
      let outcome = await call();
      for (; outcome === "answered"; outcome = await call()) {
        answered[name] = (answered[name] ?? 0) + 1;
        if (Object.keys(calls).every((each) => (answered[each] ?? 0) >= CALLERS_PER_PROTOCOL))
          warm.emit("warm");
      }
      const end = `${name}: ${String(outcome)}`;
      ended.push(end);
      if (!isTold) warm.emit("error", new Error(`a call failed before the signal: ${end}`));
    }),
  );
  await isWarm;
  const told = once(child, "message");
  isTold = true;
  child.kill("SIGTERM");
  const [{ isClean, begunCount }] = (await told) as [DrainReport];
  await Promise.all(callers);
  agent.destroy();
  grpcJs.close();
  expect(isClean).toBe(true);
  // Every call that the server started got its reply. Callers may retry the others elsewhere.
  const answeredCount = Object.values(answered).reduce((sum, count) => sum + count);
  expect({ begunCount, ended: tally(ended) }).toMatchObject({ begunCount: answeredCount });
});

/** Counts how often each text occurs. The failing test shows the counts. */
function tally(texts: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}
