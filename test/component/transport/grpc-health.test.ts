import { getEventListeners } from "node:events";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport } from "@connectrpc/connect-node";
import { afterEach, describe, expect, it } from "vitest";
import {
  Health,
  HealthCheckResponse_ServingStatus as Status,
} from "../../../gen/proto/grpc/health/v1/health_pb.ts";
import { Signing } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import { createGrpcHealth } from "../../../src/transport/grpc/grpc-health.ts";
import { type FakeServer, startFakes, UUID } from "./fake-services.ts";

let server: FakeServer | undefined;
afterEach(() => server?.close());

async function connectGrpc(hooks: Parameters<typeof startFakes>[0] = {}) {
  server = await startFakes(hooks);
  return { server, client: createClient(Health, createGrpcTransport({ baseUrl: server.url })) };
}

async function codeOf(call: Promise<unknown>): Promise<Code | undefined> {
  return await call.then(
    () => undefined,
    (reason: unknown) => ConnectError.from(reason).code,
  );
}

describe("a health check", () => {
  it("reports the server and each of its services as serving", async () => {
    const { client } = await connectGrpc();
    expect((await client.check({})).status).toBe(Status.SERVING);
    expect((await client.check({ service: "tss.v1.Signing" })).status).toBe(Status.SERVING);
    const { statuses } = await client.list({});
    expect(Object.keys(statuses)).toEqual(["", "tss.v1.Onboarding", "tss.v1.Signing", "tss.v1.Admin"]);
  });

  it("of a service that is not served is NOT_FOUND", async () => {
    const { client } = await connectGrpc();
    expect(await codeOf(client.check({ service: "tss.v1.Nothing" }))).toBe(Code.NotFound);
  });

  it("needs no key, unlike other calls, and works over Connect too", async () => {
    const { server: gated } = await connectGrpc({
      gate: () => {
        throw new ServiceError("MISSING_KEY", "send a key");
      },
    });
    const transport = createConnectTransport({ baseUrl: gated.url, httpVersion: "1.1" });
    expect((await createClient(Health, transport).check({})).status).toBe(Status.SERVING);
    const refused = createClient(Signing, transport).getSign({ signRequestId: UUID });
    expect(await codeOf(refused)).toBe(Code.Unauthenticated);
  });
});

describe("a watch", () => {
  it("of a service that is not served reports it and stays open", async () => {
    const { client } = await connectGrpc();
    const leave = new AbortController();
    const watch = client.watch({ service: "tss.v1.Nothing" }, { signal: leave.signal });
    const replies = watch[Symbol.asyncIterator]();
    expect((await replies.next()).value).toMatchObject({ status: Status.SERVICE_UNKNOWN });
    const next = replies.next();
    leave.abort();
    expect(await codeOf(next)).toBe(Code.Canceled);
  });

  it("reports a drain at once, ends after the drain's delay, and does not delay the drain", async () => {
    const { server: draining, client } = await connectGrpc();
    const replies = client.watch({ service: "tss.v1.Signing" })[Symbol.asyncIterator]();
    expect((await replies.next()).value).toMatchObject({ status: Status.SERVING });
    const drained = draining.drain({ delayMs: 100, timeoutMs: 60_000 });
    expect((await replies.next()).value).toMatchObject({ status: Status.NOT_SERVING });
    expect(await codeOf(replies.next())).toBe(Code.Unavailable);
    expect(await drained).toBe(true);
  });
});

describe("the health status", () => {
  /** A watch without a server, as the handler runs it. */
  function watching(health: ReturnType<typeof createGrpcHealth>) {
    const leave = new AbortController();
    const { watch } = health.registration.implementation as unknown as {
      watch(request: object, context: object): AsyncGenerator<{ status: Status }>;
    };
    const replies = watch({ service: "" }, { signal: leave.signal });
    return { leave, next: async () => (await replies.next()).value?.status };
  }

  it("wakes every watcher", async () => {
    const health = createGrpcHealth([Signing]);
    const watches = Array.from({ length: 100 }, () => watching(health));
    await Promise.all(watches.map(({ next }) => next()));
    const heard = Promise.all(watches.map(({ next }) => next()));
    health.setServing(false);
    expect(await heard).toEqual(Array(100).fill(Status.NOT_SERVING));
  });

  it("sends a slow watcher only the last status, and nothing if it changed back", async () => {
    const health = createGrpcHealth([Signing]);
    const { next } = watching(health);
    expect(await next()).toBe(Status.SERVING);
    for (const isServing of [false, true, false, true, false]) health.setServing(isServing);
    expect(await next()).toBe(Status.NOT_SERVING);
    health.setServing(true);
    health.setServing(false);
    const later = next();
    health.setServing(true);
    expect(await later).toBe(Status.SERVING);
  });

  it("removes a watcher that left", async () => {
    const health = createGrpcHealth([Signing]);
    const { leave, next } = watching(health);
    await next();
    const last = next();
    leave.abort();
    expect(await last).toBeUndefined();
    expect(getEventListeners(leave.signal, "abort")).toEqual([]);
    health.setServing(false);
    expect(await next()).toBeUndefined();
  });
});
