import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { runAction } from "../../../../src/client/sdk/action.ts";
import { createServiceCaller, type ServiceCaller } from "../../../../src/client/sdk/calls/service-calls.ts";
import { createClient } from "../../../../src/client/sdk/index.ts";
import { serviceError } from "./fake-service.ts";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A service that answers or fails, as the test says. Counts the calls since the last change. */
function fakeService() {
  const service = { attempts: 0, answer: (): unknown => "reply" };
  const perform = async () => {
    service.attempts++;
    return await service.answer();
  };
  return { service, perform };
}

/** Runs one call in an action, as fast as its timers allow. Returns its end and how long it took in fake time. */
async function run(
  caller: ServiceCaller,
  perform: () => Promise<unknown>,
  timeoutMs = 600_000,
): Promise<{ end: unknown; tookMs: number }> {
  const start = performance.now();
  const call = runAction(timeoutMs, {}, (action) => caller(action, perform)).catch((error: unknown) => error);
  const isOver = vi.fn();
  void call.then(isOver, isOver);
  while (isOver.mock.calls.length === 0) await vi.advanceTimersToNextTimerAsync();
  return { end: await call, tookMs: performance.now() - start };
}

const refused = () => Promise.reject(new ConnectError("refused", Code.Unavailable));

describe("a service that cannot be reached", () => {
  test("is given up after five attempts if it has never answered this client", async () => {
    const { service, perform } = fakeService();
    service.answer = refused;
    const { end, tookMs } = await run(createServiceCaller(), perform);
    expect(end).toMatchObject({ reason: "UNREACHABLE" });
    expect(service.attempts).toBe(5);
    expect(tookMs).toBeLessThan(2_000);
  });

  test.each([
    ["a reply", () => "reply"],
    ["a refusal", () => Promise.reject(serviceError(Code.NotFound, "DWALLET_NOT_FOUND"))],
  ])(
    "is tried for half a minute after %s, at first at once and then up to every two seconds",
    async (_, answer) => {
      const { service, perform } = fakeService();
      const caller = createServiceCaller();
      service.answer = answer;
      await run(caller, perform);
      Object.assign(service, { attempts: 0, answer: refused });
      const { end, tookMs } = await run(caller, perform);
      expect(end).toMatchObject({ reason: "UNREACHABLE" });
      expect(tookMs).toBeGreaterThanOrEqual(30_000);
      expect(tookMs).toBeLessThanOrEqual(32_000);
      expect(service.attempts).toBeLessThanOrEqual(26);
    },
  );

  test("is tried for as long as the client's option says", async () => {
    const { service, perform } = fakeService();
    const caller = createServiceCaller(5_000);
    await run(caller, perform);
    service.answer = refused;
    const { tookMs } = await run(caller, perform);
    expect(tookMs).toBeGreaterThanOrEqual(5_000);
    expect(tookMs).toBeLessThanOrEqual(7_000);
  });

  test("is tried again after the time that a balancer's refusal names", async () => {
    const { service, perform } = fakeService();
    const refusal = new ConnectError("HTTP 503", Code.Unavailable, { "retry-after": "7" });
    service.answer = () => (service.attempts < 3 ? Promise.reject(refusal) : "reply");
    const { end, tookMs } = await run(createServiceCaller(), perform);
    expect({ end, attempts: service.attempts }).toEqual({ end: "reply", attempts: 3 });
    expect(tookMs).toBeGreaterThanOrEqual(14_000);
  });

  test("answers the call when it is back", async () => {
    const { service, perform } = fakeService();
    const caller = createServiceCaller();
    await run(caller, perform);
    service.attempts = 0;
    service.answer = () => (service.attempts < 12 ? refused() : "reply");
    expect((await run(caller, perform)).end).toBe("reply");
  });

  test("is UNREACHABLE, not a time-out, if the action ends before the next attempt", async () => {
    const { service, perform } = fakeService();
    const caller = createServiceCaller();
    await run(caller, perform);
    service.answer = refused;
    expect((await run(caller, perform, 3_000)).end).toMatchObject({ reason: "UNREACHABLE" });
  });
});

describe("a service that asks for a later call", () => {
  const later = (seconds: string) =>
    new ConnectError("busy", Code.ResourceExhausted, { "retry-after": seconds });

  test.each([
    ["7", 14_000],
    ["0", 100],
  ])("gets it after that time, and after 50 ms at the earliest: %s s", async (seconds, tookMs) => {
    const { service, perform } = fakeService();
    service.answer = () => (service.attempts < 3 ? Promise.reject(later(seconds)) : "reply");
    expect(await run(createServiceCaller(), perform)).toEqual({ end: "reply", tookMs });
  });

  test("is the reason of the action's end if that time is not before its deadline", async () => {
    const { service, perform } = fakeService();
    service.answer = () => Promise.reject(later("7"));
    const { end, tookMs } = await run(createServiceCaller(), perform, 7_000);
    expect([end, tookMs]).toMatchObject([{ reason: "RESOURCE_EXHAUSTED", retryAfterMs: 7_000 }, 0]);
    expect(service.attempts).toBe(1);
  });
});

test.each([-1, Number.NaN, 600_001])("a client refuses %s milliseconds for it", (reconnectTimeoutMs) => {
  const options = { baseUrl: "http://127.0.0.1:1", apiKey: "tss_key", network: "localnet" } as const;
  expect(() => createClient({ ...options, reconnectTimeoutMs })).toThrow(
    "reconnectTimeoutMs: must be between 0 and 600000",
  );
});

test.each([
  ["a stream that the server reset", new ConnectError("http/2 stream closed", Code.Canceled)],
  ["a connection that was reset", new ConnectError("read ECONNRESET", Code.Aborted)],
  ["a GOAWAY before the reply", new ConnectError("sentinel completed early", Code.Internal)],
  [
    "a pipe that broke",
    ConnectError.from(Object.assign(new Error("write"), { code: "EPIPE" }), Code.Internal),
  ],
  ["a fetch without a reply", ConnectError.from(new TypeError("terminated"))],
  [
    "a body that broke in Bun",
    ConnectError.from(Object.assign(new Error("closed"), { code: "ConnectionClosed" })),
  ],
  ["a balancer's 503", new ConnectError("HTTP 503", Code.Unavailable, { server: "balancer" })],
])("%s is a connection that failed", async (_, error) => {
  const { service, perform } = fakeService();
  service.answer = () => (service.attempts === 1 ? Promise.reject(error) : "reply");
  expect((await run(createServiceCaller(), perform)).end).toBe("reply");
});

test.each([
  ["the service's own INTERNAL", serviceError(Code.Internal, "INTERNAL")],
  ["the service's own ABORTED", serviceError(Code.Aborted, "IDEMPOTENCY_CONFLICT")],
  ["a proxy's refusal", new ConnectError("no", Code.PermissionDenied)],
  ["an unreadable reply", ConnectError.from(new Error("illegal tag"), Code.Internal)],
  ["a fault with a number", ConnectError.from(Object.assign(new Error("fault"), { code: 5 }), Code.Internal)],
])("%s is not", async (_, error) => {
  const { service, perform } = fakeService();
  service.answer = () => Promise.reject(error);
  await run(createServiceCaller(), perform);
  expect(service.attempts).toBe(1);
});
