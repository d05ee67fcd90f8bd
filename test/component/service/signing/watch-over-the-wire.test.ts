import { timestampDate } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError, createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ErrorInfoSchema, RetryInfoSchema } from "../../../../gen/proto/google/rpc/error_details_pb.ts";
import { Signing, SignRequest_Status as Status } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { setCaller } from "../../../../src/service/access/caller.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../../../src/service/platform/coordination/signals.ts";
import { createErrorInterceptor } from "../../../../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../../../src/service/platform/errors/error-mapping.ts";
import { createWarmValidateInterceptor } from "../../../../src/service/platform/errors/validate-interceptor.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { createSigningService } from "../../../../src/service/signing/signing-service.ts";
import { untilClosing } from "../../../../src/transport/calls/closing-signal.ts";
import { registerService } from "../../../../src/transport/calls/service-registration.ts";
import { startServer, type TransportServer } from "../../../../src/transport/start-server.ts";
import { checkHalfInline } from "../../../support/crypto/inline-verifier.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  dwalletOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";

let database: Database;
let projectId: string;
let dwallet: TestDWalletRow;
let signals: Signals;
let steps: ReturnType<typeof signSteps>;
let server: TransportServer;
let sessions: Http2SessionManager;
let listenerCount = 0;
let onCount: () => void = () => {};

/** Resolves when this many watches listen. */
const listening = (count: number) =>
  new Promise<void>((resolve) => {
    onCount = () => {
      if (listenerCount === count) resolve();
    };
    onCount();
  });

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
  dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 1);
  signals = createLocalSignals();
  steps = signSteps(database, signals);
  const counted: Signals = {
    ...signals,
    subscribe(topic, listener) {
      const leave = signals.subscribe(topic, listener);
      listenerCount++;
      onCount();
      return () => {
        leave();
        listenerCount--;
        onCount();
      };
    },
  };
  const errors = createErrorMapping(() => {});
  const service = createSigningService({
    clock: systemClock,
    database,
    signals: counted,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    checkHalf: checkHalfInline,
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
    untilClosing,
  });
  const caller = { projectId, apiKeyId: "key", network: "localnet", scopes: [], origin: TEST_ORIGIN };
  server = await startServer({
    host: "127.0.0.1",
    port: 0,
    errors,
    services: [registerService(Signing, service)],
    interceptors: [createErrorInterceptor(errors), createWarmValidateInterceptor([Signing])],
    gate: ({ values }) => setCaller(values, { kind: "project", ...caller }),
  });
  sessions = new Http2SessionManager(server.url);
});
afterEach(async () => {
  sessions.abort();
  await server.close();
  await signals.close();
});

const transports: [string, () => Transport][] = [
  ["gRPC", () => createGrpcTransport({ baseUrl: server.url, sessionManager: sessions })],
  ["Connect", () => createConnectTransport({ baseUrl: server.url, httpVersion: "1.1" })],
];

describe.each(transports)("a watch over %s", (_, transport) => {
  it("sends each state with its cursor and its time, and ends with the final one", async () => {
    const signRequestId = await steps.reserve(projectId, dwallet);
    const watching = createClient(Signing, transport()).watchSign({ signRequestId });
    const seen: (Status | undefined)[] = [];
    const cursors = new Set<string>();
    for await (const { signRequest, cursor, time } of watching) {
      seen.push(signRequest?.status);
      cursors.add(cursor);
      expect(timestampDate(time!).getTime()).toBeGreaterThan(0);
      if (signRequest?.status === Status.prepared) await steps.submit(projectId, signRequestId);
      if (signRequest?.status === Status.queued) await steps.refuse(signRequestId);
    }
    expect(seen).toEqual([Status.prepared, Status.queued, Status.failed]);
    expect(cursors.size).toBe(3);
    await listening(0);
  });

  it("ends with the retryable DRAINING when the process stops, and leaves no listener", async () => {
    const signRequestId = await steps.reserve(projectId, dwallet);
    const watching = createClient(Signing, transport()).watchSign({ signRequestId });
    const end = failureOf(watching);
    await listening(1);
    // It does not delay the drain, which ends cleanly.
    expect(await server.drain({ delayMs: 0, timeoutMs: 60_000 })).toBe(true);
    const error = await end;
    expect(error.code).toBe(Code.Unavailable);
    expect(error.findDetails(ErrorInfoSchema)).toMatchObject([{ reason: "DRAINING" }]);
    expect(error.findDetails(RetryInfoSchema)).toHaveLength(1);
    await listening(0);
  });

  it("ends with its caller, and leaves no listener", async () => {
    const signRequestId = await steps.reserve(projectId, dwallet);
    const leaving = new AbortController();
    const watching = createClient(Signing, transport()).watchSign(
      { signRequestId },
      { signal: leaving.signal },
    );
    const end = failureOf(watching);
    await listening(1);
    leaving.abort();
    expect((await end).code).toBe(Code.Canceled);
    await listening(0);
  });

  it("refuses a malformed cursor, and an id that the project does not have", async () => {
    const client = createClient(Signing, transport());
    const signRequestId = await steps.reserve(projectId, dwallet);
    const reasonOf = async (request: { signRequestId: string; cursor?: string }) =>
      (await failureOf(client.watchSign(request))).findDetails(ErrorInfoSchema)[0]?.reason;
    expect(await reasonOf({ signRequestId, cursor: "none" })).toBe("VALIDATION");
    expect(await reasonOf({ signRequestId: newId() })).toBe("SIGN_REQUEST_NOT_FOUND");
    expect(await reasonOf({ signRequestId: "42" })).toBe("VALIDATION");
  });
});

describe("a watch as server-sent events", () => {
  const watch = (signRequestId: string, headers: Record<string, string> = {}) =>
    fetch(`${server.url}/v1/sign/${signRequestId}/watch`, {
      headers: { accept: "text/event-stream", ...headers },
    });

  it("sends each state as an event whose id resumes the watch, and ends for good with the final state", async () => {
    const signRequestId = await steps.reserve(projectId, dwallet);
    const reply = await watch(signRequestId);
    expect(reply.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const states: string[] = [];
    const ids: string[] = [];
    let text = "";
    for await (const chunk of reply.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const data = /^data: ?(.*)$/m.exec(event)?.[1];
        if (data === undefined) continue;
        const { signRequest, cursor } = JSON.parse(data);
        const id = /^id: ?(.*)$/m.exec(event)?.[1] ?? "";
        expect(id).toBe(cursor);
        ids.push(id);
        states.push(signRequest.status);
        if (signRequest.status === "prepared") await steps.submit(projectId, signRequestId);
        if (signRequest.status === "queued") await steps.refuse(signRequestId);
      }
    }
    expect(states).toEqual(["prepared", "queued", "failed"]);
    // The reply tells an EventSource that reconnects with the last id to stop.
    expect((await watch(signRequestId, { "last-event-id": ids.at(-1) ?? "" })).status).toBe(204);
    await listening(0);
  });

  it("reports in-band that the process stops", async () => {
    const signRequestId = await steps.reserve(projectId, dwallet);
    const reply = await watch(signRequestId);
    await listening(1);
    const drained = server.drain({ delayMs: 0, timeoutMs: 60_000 });
    expect(await reply.text()).toMatch(/event: error\ndata: .*"DRAINING"/);
    expect(await drained).toBe(true);
  });
});

async function failureOf(messages: AsyncIterable<unknown>): Promise<ConnectError> {
  try {
    for await (const _ of messages);
  } catch (error) {
    return ConnectError.from(error);
  }
  throw new Error("the watch ended without a failure");
}
