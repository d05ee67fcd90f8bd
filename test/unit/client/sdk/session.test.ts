/** A client with a session fetches its token when needed, renews it in time, and leaves nothing behind. */
import { getEventListeners } from "node:events";
import { create } from "@bufbuild/protobuf";
import { Code, createRouterTransport, type HandlerContext } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Account } from "../../../../gen/client/tss/v1/account_pb.ts";
import { Sessions } from "../../../../gen/client/tss/v1/sessions_pb.ts";
import { Signing, WatchSignResponseSchema } from "../../../../gen/client/tss/v1/signing_pb.ts";
import { createClient } from "../../../../src/client/sdk/client.ts";
import type { ClientOptions } from "../../../../src/client/sdk/client-options.ts";
import type { SessionToken } from "../../../../src/client/sdk/sessions/session.ts";
import { serviceError } from "./fake-service.ts";

const HOUR_MS = 3_600_000;
const COMMON = { baseUrl: "http://service.invalid", network: "testnet" } as const;
/** The tokens that the calls had, in order. */
const seen: string[] = [];
/** The tokens that the service refuses, and the reasons. */
const refused = new Map<string, string>();
/** The messages that a stream sends before it checks the token again. */
let streamCount = 0;

beforeEach(() => {
  seen.length = 0;
  refused.clear();
  streamCount = 0;
  vi.useFakeTimers({ toFake: ["Date"], now: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

function check({ requestHeader }: HandlerContext): string {
  const token = requestHeader.get("authorization")?.replace("Bearer ", "") ?? "";
  seen.push(token);
  const reason = refused.get(token);
  if (reason !== undefined) throw serviceError(Code.Unauthenticated, reason);
  return token;
}

const transport = createRouterTransport(({ service }) => {
  service(Account, { getAccount: (_request, context) => ({ projectName: check(context) }) });
  service(Sessions, {
    createSession: ({ userReference, scopes, lifetimeSeconds, allowance }) => ({
      token: JSON.stringify({ userReference, scopes, lifetimeSeconds, algorithms: allowance?.algorithms }),
      session: { sessionId: "s-1", expireTime: { seconds: 5n } },
    }),
    revokeUserSessions: () => ({ revokedCount: 2 }),
  });
  service(Signing, {
    async *watchSign(_request, context) {
      for (let count = 0; count < streamCount; count++)
        yield create(WatchSignResponseSchema, { cursor: "before" });
      yield create(WatchSignResponseSchema, { cursor: check(context) });
    },
  });
});

/** A client whose session function returns the tokens t1, t2 and so on. */
function clientWith(answer: (token: string) => SessionToken | string | Promise<SessionToken | string>) {
  let count = 0;
  const session = vi.fn(async () => answer(`t${++count}`));
  return { session, client: createClient({ ...COMMON, transport, session }) };
}
const forAnHour = (token: string) => ({ token, expireTime: new Date(Date.now() + HOUR_MS) });

async function cursors(client: ReturnType<typeof createClient>, signal?: AbortSignal): Promise<string[]> {
  const found: string[] = [];
  const options = signal === undefined ? {} : { signal };
  for await (const { cursor } of client.raw.signing.watchSign({}, options)) found.push(cursor);
  return found;
}

test("the token is fetched by the first call, and by no other before its time", async () => {
  const { session, client } = clientWith(forAnHour);
  expect(session).not.toHaveBeenCalled();
  await client.account();
  vi.setSystemTime(HOUR_MS - 31_000);
  await client.account();
  expect([seen, session.mock.calls.length]).toEqual([["t1", "t1"], 1]);
});

test.each([
  ["half a minute before an expiry in an hour", HOUR_MS, 30_000],
  ["after nine tenths of ten seconds", 10_000, 1_000],
])("the token is renewed %s", async (_, lifetimeMs, marginMs) => {
  const { client } = clientWith((token) => ({
    token,
    expireTime: new Date(Date.now() + lifetimeMs).toISOString(),
  }));
  await client.account();
  vi.setSystemTime(lifetimeMs - marginMs - 1);
  await client.account();
  vi.setSystemTime(lifetimeMs - marginMs);
  await client.account();
  expect(seen).toEqual(["t1", "t1", "t2"]);
});

test("concurrent calls wait for one renewal", async () => {
  const { session, client } = clientWith(forAnHour);
  await Promise.all([client.account(), client.account(), cursors(client)]);
  vi.setSystemTime(HOUR_MS);
  await Promise.all([client.account(), client.account(), cursors(client)]);
  expect(session).toHaveBeenCalledTimes(2);
  expect(seen).toEqual(["t1", "t1", "t1", "t2", "t2", "t2"]);
});

test.each(["SESSION_EXPIRED", "INVALID_KEY"])(
  "a call after %s is sent again once, with a new token",
  async (reason) => {
    const { client, session } = clientWith((token) => token);
    refused.set("t1", reason);
    expect((await client.account()).projectName).toBe("t2");
    expect([seen, session.mock.calls.length]).toEqual([["t1", "t2"], 2]);
  },
);

test("calls that are refused together share one new token", async () => {
  const { client, session } = clientWith((token) => token);
  await client.account();
  refused.set("t1", "SESSION_EXPIRED");
  await Promise.all([client.account(), client.account(), client.account()]);
  expect(session).toHaveBeenCalledTimes(2);
});

test("a call never loops: a second refusal is the result", async () => {
  const { client } = clientWith((token) => token);
  for (const token of ["t1", "t2", "t3"]) refused.set(token, "SESSION_EXPIRED");
  await expect(client.account()).rejects.toMatchObject({ reason: "SESSION_EXPIRED" });
  expect(seen).toEqual(["t1", "t2"]);
});

test.each(["SESSION_REVOKED", "ORIGIN_NOT_ALLOWED"])("a call is not sent again after %s", async (reason) => {
  const { client } = clientWith((token) => token);
  refused.set("t1", reason);
  await expect(client.account()).rejects.toMatchObject({ reason });
  expect(seen).toEqual(["t1"]);
});

test("a stream begins again once if the session expired before its first message", async () => {
  const { client } = clientWith((token) => token);
  refused.set("t1", "SESSION_EXPIRED");
  expect(await cursors(client)).toEqual(["t2"]);
  refused.set("t2", "SESSION_EXPIRED").set("t3", "SESSION_EXPIRED");
  await expect(cursors(client)).rejects.toThrow();
  expect(seen).toEqual(["t1", "t2", "t2", "t3"]);
});

test("a stream that has sent a message does not begin again", async () => {
  const { client } = clientWith((token) => token);
  streamCount = 1;
  refused.set("t1", "SESSION_EXPIRED");
  await expect(cursors(client)).rejects.toThrow();
  expect(seen).toEqual(["t1"]);
});

test("a wrong clock makes no call fetch a token: the service says when one has expired", async () => {
  const { client, session } = clientWith((token) => ({ token, expireTime: "1969-01-01T00:00:00Z" }));
  await client.account();
  await client.account();
  expect(session).toHaveBeenCalledTimes(1);
});

test("a client acts for one user: it refuses the session of whoever signs in in another tab", async () => {
  let userReference: string | undefined;
  const { client } = clientWith((token) => ({ token, userReference }));
  const renewed = async (user: string | undefined) => {
    userReference = user;
    for (const token of seen) refused.set(token, "SESSION_EXPIRED");
    return (await client.account()).projectName;
  };
  expect(await renewed(undefined)).toBe("t1");
  expect(await renewed("alice")).toBe("t2");
  await expect(renewed("bob")).rejects.toMatchObject({ reason: "SESSION_UNAVAILABLE" });
  await expect(renewed("bob")).rejects.toMatchObject({ reason: "SESSION_UNAVAILABLE" });
  expect(await renewed("alice")).toBe("t5");
  expect(seen).not.toContain("t3");
  expect(seen).not.toContain("t4");
});

test("a failing function fails the call with its cause, and the next call asks again", async () => {
  let failure: Error | undefined = new Error("the backend is away");
  const { client } = clientWith((token) => {
    if (failure === undefined) return token;
    throw failure;
  });
  await expect(client.account()).rejects.toMatchObject({ reason: "SESSION_UNAVAILABLE", cause: failure });
  failure = undefined;
  expect((await client.account()).projectName).toBe("t2");
});

test.each([[""], [{ token: "" }], [{}], [undefined]])("the answer %j is no token", async (answer) => {
  const { client } = clientWith(() => answer as string);
  await expect(client.account()).rejects.toMatchObject({ reason: "SESSION_UNAVAILABLE" });
  expect(seen).toEqual([]);
});

test("an aborted call ends at once and leaves neither a listener nor a timer", async () => {
  vi.useFakeTimers();
  let answer: (token: string) => void = () => {};
  const { client } = clientWith(() => new Promise((resolve) => (answer = resolve)));
  const leaving = new AbortController();
  const calls = [client.account({ signal: leaving.signal }), cursors(client, leaving.signal)];
  const outcomes = Promise.allSettled(calls);
  await vi.advanceTimersByTimeAsync(0);
  leaving.abort();
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  answer("t1");
  await vi.advanceTimersByTimeAsync(0);
  expect(getEventListeners(leaving.signal, "abort")).toEqual([]);
  expect([seen, vi.getTimerCount()]).toEqual([[], 0]);
});

test("exactly one of apiKey and session is given", () => {
  const session = async () => "t1";
  for (const options of [{}, { apiKey: "tss_test_x", session }])
    expect(() => createClient({ ...COMMON, ...options } as ClientOptions)).toThrow(
      /either apiKey or session/,
    );
  // @ts-expect-error: neither
  const neither: ClientOptions = COMMON;
  // @ts-expect-error: both
  const both: ClientOptions = { ...COMMON, apiKey: "tss_test_x", session };
  expect([neither, both]).toHaveLength(2);
});

test("a backend creates a session with names for scopes and algorithms, and ends a user's sessions", async () => {
  const { sessions } = createClient({ ...COMMON, transport, apiKey: "tss_test_x" });
  const { token, sessionId, expireTime } = await sessions.create({
    ...{ userReference: "user-42", scopes: ["sign", "read"], lifetimeSeconds: 60 },
    allowance: { algorithms: ["EdDSA"] },
  });
  expect(JSON.parse(token)).toEqual({
    ...{ userReference: "user-42", scopes: [2, 3], lifetimeSeconds: 60, algorithms: [24] },
  });
  expect([sessionId, expireTime]).toEqual(["s-1", new Date(5_000)]);
  expect(await sessions.revokeUser({ userReference: "user-42" })).toBe(2);
  await expect(sessions.get({ sessionId })).rejects.toBeInstanceOf(Error);
});
