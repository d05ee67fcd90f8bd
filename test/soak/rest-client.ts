import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { JsonValue } from "@bufbuild/protobuf";
import type { MethodName, ProtocolClient } from "../support/service/protocol-clients.ts";

type Route = (request: Record<string, JsonValue>) => readonly [method: "GET" | "POST", path: string];

const ROUTES: Readonly<Record<MethodName, Route>> = {
  GetNetwork: () => ["GET", "/v1/network"],
  RegisterEncryptionKey: () => ["POST", "/v1/encryption-keys"],
  CreateDWallet: () => ["POST", "/v1/dwallets"],
  AcceptDWallet: ({ dwalletId }) => ["POST", `/v1/dwallets/${dwalletId as string}/accept`],
  GetDWallet: ({ dwalletId }) => ["GET", `/v1/dwallets/${dwalletId as string}`],
  ReserveSign: () => ["POST", "/v1/sign"],
  SubmitSign: ({ signRequestId }) => ["POST", `/v1/sign/${signRequestId as string}/submit`],
  GetSign: ({ signRequestId }) => ["GET", `/v1/sign/${signRequestId as string}`],
};

const PAUSE_MS = 100;
const CALL_TIMEOUT_MS = 20_000;
/** The statuses that a client may retry: those of a service that shuts down, and of a pool that is being filled. */
const TRY_AGAIN = [408, 425, 429, 502, 503, 504];

/**
 * A client of several replicas over REST. If one replica does not answer, it sends the same call to another one with
 * the same idempotency key, until it gets an answer. `baseUrls` returns the running replicas.
 */
export function restClient(baseUrls: () => readonly string[], apiKey: string): ProtocolClient {
  return {
    name: "REST over replicas",
    async call(name, request) {
      const [method, path] = ROUTES[name](request);
      const headers = {
        "x-api-key": apiKey,
        "content-type": "application/json",
        "idempotency-key": randomUUID(),
      };
      const body = method === "POST" ? { body: JSON.stringify(request) } : {};
      for (let attempt = Math.floor(Math.random() * 1_000); ; attempt++) {
        const urls = baseUrls();
        const baseUrl = urls[attempt % Math.max(1, urls.length)];
        const signal = AbortSignal.timeout(CALL_TIMEOUT_MS);
        const reply = await fetch(`${baseUrl}${path}`, { method, headers, signal, ...body }).catch(
          () => undefined,
        );
        const json =
          reply && ((await reply.json().catch(() => undefined)) as Record<string, JsonValue> | undefined);
        if (reply?.ok && json !== undefined) return json;
        if (reply !== undefined && json !== undefined && !TRY_AGAIN.includes(reply.status))
          throw new Error(`${name}: ${reply.status} ${JSON.stringify(json)}`);
        await sleep(PAUSE_MS);
      }
    },
    close() {},
  };
}
