/** A session acts for one user of a project, within what the key that created it may do, and ends as fast as a key. */
import { createContextValues } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Sessions } from "../../../../gen/proto/tss/v1/sessions_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../../../../src/service/access/access-gate.ts";
import type { Limits } from "../../../../src/service/access/allowances/allowances.ts";
import {
  callerOf,
  describeCaller,
  type ProjectCaller,
  SCOPES,
} from "../../../../src/service/access/caller.ts";
import { insertApiKey, revokeApiKey, rotateApiKey } from "../../../../src/service/access/keys/api-keys.ts";
import { createAdminKeyLookup, createApiKeyLookup } from "../../../../src/service/access/keys/stored-keys.ts";
import { createRateLimiter } from "../../../../src/service/access/rate-limiter.ts";
import { createSessionLookup } from "../../../../src/service/access/stored-sessions.ts";
import {
  createLocalCoordination,
  createLocalSignals,
} from "../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { reissueKeys } from "../../../../src/service/restore/reissue-keys.ts";
import { revokeSession, revokeUserSessions } from "../../../../src/service/users/end-sessions.ts";
import { readSession } from "../../../../src/service/users/session-row.ts";
import {
  createSession,
  createSessionDeps,
  createSessionOfUser,
  type NewSession,
  SESSIONS_OF_USER_MAX_COUNT,
  type SessionDeps,
} from "../../../../src/service/users/sessions.ts";
import { createSessionsService } from "../../../../src/service/users/sessions-service.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { providerOf } from "../../../support/database/provider-row.ts";
import { objectId, projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";
import { silentLog } from "../../../support/silent-log.ts";

const APP = "https://app.example";
let database: Database;
let projectId: string;
let caller: ProjectCaller;
let replica: ReturnType<typeof newReplica>;
let signals: ReturnType<typeof createLocalSignals>;
const nowMs = 0;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  signals = createLocalSignals();
  projectId = await projectWith(database, 0n);
  caller = await keyOf();
  replica = newReplica();
});

/** The look-ups, the gate and the changes of one process. The clock of its cache stands still. */
function newReplica(perSecond = 0, sessionsFactor = 0) {
  const options = { database, signals, log: silentLog, now: () => nowMs };
  const lookup = createApiKeyLookup(options);
  const sessionLookup = createSessionLookup(options);
  const each = { read: perSecond, write: 0, chain: 0, verify: 0, stream: 0, refusedKey: 0, open: 0 };
  const gate = createAccessGate({
    lookup,
    sessionLookup,
    adminLookup: createAdminKeyLookup(options),
    limiter: createRateLimiter({
      limits: { perSecond: each, burstSeconds: 1_000, sessionsFactor },
      coordination: createLocalCoordination(() => 0),
    }),
    adminApiKey: undefined,
    networks: ["localnet"],
    beginTrace: () => ({ requestId: "r-1", address: "192.0.2.1" }),
  });
  return {
    lookup,
    deps: createSessionDeps({ database, lookup: sessionLookup, usersMaxCountOf: () => 1_000 }),
    sessionLookup,
    gate,
  };
}

/** The caller with a new key of the project. */
async function keyOf(limits: Limits = {}, change: { scopes?: typeof SCOPES; expiresAt?: Date } = {}) {
  const { scopes = SCOPES, expiresAt } = change;
  const { id } = await database.transaction((db) =>
    insertApiKey(db, TEST_ORIGIN, { projectId, name: "backend", scopes, limits, expiresAt }),
  );
  const allowance = { id, userReferences: undefined, dwalletIds: undefined, algorithms: undefined };
  return {
    ...{ kind: "project", projectId, apiKeyId: id, network: "localnet", scopes, origin: TEST_ORIGIN },
    ...(Object.keys(limits).length > 0 && { allowance: { ...allowance, budget: undefined, ...limits } }),
  } as const satisfies ProjectCaller;
}

async function newSession(
  session: Partial<NewSession> = {},
  by: ProjectCaller = caller,
  deps: SessionDeps = replica.deps,
) {
  const { details, token = "" } = await createSession(deps, by, undefined, {
    userReference: "alice",
    scopes: ["read"],
    ...session,
  });
  return { ...details, token };
}

/** Sends a call with a token through the gate. */
async function knock(
  token: string,
  headers: Record<string, string> = {},
  { gate, method = Signing.method.getSign }: { gate?: typeof replica.gate; method?: object } = {},
) {
  const values = createContextValues();
  const responseHeader = new Headers();
  const requestHeader = new Headers({ authorization: `Bearer ${token}`, ...headers });
  await (gate ?? replica.gate)({
    method: method as typeof Signing.method.getSign,
    ...{ requestHeader, responseHeader, values },
  });
  return { values, responseHeader };
}

const refused = (reason: string) => ({ reason });

describe("a session", () => {
  it("makes the caller its user, with its own id in the audit trail and the log", async () => {
    const dwalletIds = [objectId()];
    const session = await newSession({ limits: { dwalletIds, algorithms: ["EdDSA"] }, origins: [APP] });
    const context = await knock(session.token);
    expect(callerOf(context, "project")).toEqual({
      kind: "project",
      ...{ projectId, apiKeyId: session.id, network: "localnet", scopes: ["read"] },
      session: {
        ...{ userReference: "alice", expiresAt: session.expiresAt, origins: [APP] },
        proofKeyThumbprint: undefined,
      },
      allowance: {
        ...{ id: session.id, userReferences: ["alice"], dwalletIds, algorithms: ["EdDSA"] },
        budget: undefined,
      },
      origin: { actor: `session:${session.id}`, requestId: "r-1", address: "192.0.2.1" },
    });
    expect(describeCaller(context.values)).toEqual({
      ...{ network: "localnet", projectId, sessionId: session.id },
    });
  });

  it("has a token of 190 random bits, of which the database has only the hash", async () => {
    const { token } = await newSession();
    expect(token).toMatch(/^tss_session_[0-9A-Za-z]{32}$/);
    const rows = await database.query("SELECT s::text || encode(hash, 'escape') AS row FROM session s");
    expect(JSON.stringify(rows)).not.toContain(token.slice("tss_session_".length));
  });

  it("shows its token once, and a repeated call returns the same session without it", async () => {
    const client = clientOf(Sessions, createSessionsService(replica.deps), () => caller);
    const call = { headers: { "idempotency-key": newId() } };
    const ask = () => client.createSession({ userReference: "alice", scopes: [3], origins: [APP] }, call);
    const [first, again] = [await ask(), await ask()];
    expect(first.token).toMatch(/^tss_session_/);
    expect(again).toMatchObject({ token: "", session: { sessionId: first.session!.sessionId } });
    expect((await client.getSession({ sessionId: first.session!.sessionId })).session).toEqual(again.session);
  });

  it("lasts an hour by default, and at most until its key expires", async () => {
    const lasts = (session: { createdAt: Date; expiresAt: Date }) =>
      Math.round((session.expiresAt.getTime() - session.createdAt.getTime()) / 1_000);
    expect(lasts(await newSession())).toBe(3_600);
    expect(lasts(await newSession({ lifetimeSeconds: 86_400 }))).toBe(86_400);
    const expiresAt = new Date(Date.now() + 60_000);
    const ending = await keyOf({}, { expiresAt });
    expect((await newSession({}, ending)).expiresAt).toEqual(expiresAt);
  });

  it("is refused after its expiry, and an unknown token is not told apart from a wrong key", async () => {
    const { token } = await newSession({ lifetimeSeconds: -1 });
    await expect(knock(token)).rejects.toMatchObject(refused("SESSION_EXPIRED"));
    const unknown = `tss_session_${"0".repeat(32)}`;
    await expect(knock(unknown)).rejects.toMatchObject(refused("INVALID_KEY"));
  });

  it("has no scope but its own, and none of the backend's calls", async () => {
    const { token } = await newSession({ scopes: ["onboard", "sign", "read"] });
    const method = Sessions.method.listSessions;
    await expect(knock(token, {}, { method })).rejects.toMatchObject({
      ...{ reason: "SCOPE_MISSING", metadata: { scope: "sessions" } },
    });
  });

  it("is of its project alone: another project neither reads, lists nor revokes it", async () => {
    const { id, token } = await newSession();
    const stranger = { ...caller, projectId: await projectWith(database, 0n) };
    expect(await refusalOf(readSession(database, stranger, id))).toBe("SESSION_NOT_FOUND");
    expect(await refusalOf(revokeSession(replica.deps, stranger, id))).toBe("SESSION_NOT_FOUND");
    expect(await revokeUserSessions(replica.deps, stranger, "alice")).toBe(0);
    const client = clientOf(Sessions, createSessionsService(replica.deps), () => stranger);
    expect((await client.listSessions({})).sessions).toEqual([]);
    await knock(token);
  });

  it("is listed with its user's or with all, the newest first, in pages", async () => {
    const client = clientOf(Sessions, createSessionsService(replica.deps), () => caller);
    const ids: string[] = [];
    for (const userReference of ["alice", "bob", "alice"])
      ids.unshift((await newSession({ userReference })).id);
    const first = await client.listSessions({ pageSize: 2 });
    const rest = await client.listSessions({ pageSize: 2, pageToken: first.nextPageToken });
    expect([...first.sessions, ...rest.sessions].map(({ sessionId }) => sessionId)).toEqual(ids);
    const { sessions } = await client.listSessions({ userReference: "alice" });
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([ids[0], ids[2]]);
    const foreign = client.listSessions({ pageToken: first.nextPageToken, userReference: "alice" });
    expect(await refusalOf(foreign)).toBe("VALIDATION");
  });
});

describe("the end of a session", () => {
  it("is at once in the process that revokes it, and in another one when it receives the signal", async () => {
    const other = newReplica();
    const { id, token } = await newSession();
    await knock(token);
    await knock(token, {}, other);
    const { revokedAt } = await revokeSession(replica.deps, caller, id.toUpperCase());
    expect(revokedAt).toBeInstanceOf(Date);
    expect(replica.sessionLookup.recall(token)).toBeUndefined();
    expect(other.sessionLookup.recall(token)).toBeUndefined();
    for (const at of [replica, other])
      await expect(knock(token, {}, at)).rejects.toMatchObject(refused("SESSION_REVOKED"));
    expect((await revokeSession(replica.deps, caller, id)).revokedAt).toEqual(revokedAt);
  });

  it("comes for all sessions of a user at once, and for no other user's", async () => {
    const [first, second, bob] = [
      await newSession(),
      await newSession(),
      await newSession({ userReference: "bob" }),
    ];
    for (const { token } of [first, second, bob]) await knock(token);
    expect(await revokeUserSessions(replica.deps, caller, "alice")).toBe(2);
    expect(await revokeUserSessions(replica.deps, caller, "alice")).toBe(0);
    for (const { token } of [first, second])
      await expect(knock(token)).rejects.toMatchObject(refused("SESSION_REVOKED"));
    await knock(bob.token);
  });

  it("comes with the revocation of the key that created it", async () => {
    const { token } = await newSession();
    await knock(token);
    await revokeApiKey({ db: database, lookup: replica.lookup }, TEST_OPERATOR, caller.apiKeyId);
    await expect(knock(token)).rejects.toMatchObject(refused("SESSION_REVOKED"));
  });

  it("comes with the end of the key that created it, which a rotation has brought forward", async () => {
    const { token } = await newSession();
    await knock(token);
    const rotation = { apiKeyId: caller.apiKeyId, overlapSeconds: 60 };
    await rotateApiKey({ database, lookup: replica.lookup }, TEST_OPERATOR, undefined, rotation);
    await knock(token);
    await database.query("UPDATE api_key SET expires_at = now() WHERE id = $1", [caller.apiKeyId]);
    // Its cache is empty.
    const { gate } = newReplica();
    await expect(knock(token, {}, { gate })).rejects.toMatchObject(refused("SESSION_EXPIRED"));
  });

  it("comes for every session of the network when keys are issued again, also without a key that created it", async () => {
    const providerId = await providerOf(database, projectId);
    const exchanged = await createSessionOfUser(replica.deps, {
      ...{ projectId, providerId, network: "localnet", userReference: "alice", scopes: ["read"] },
      ...{ origins: [], budget: undefined, lifetimeSeconds: 60, proofKeyThumbprint: undefined },
      ...{ tokenIssuedAt: new Date(), idempotency: undefined, origin: TEST_ORIGIN },
    });
    const tokens = [exchanged.token ?? "", (await newSession()).token];
    await reissueKeys(database, "testnet", { keep() {}, revokedIds: [] });
    for (const token of tokens) await knock(token);
    await reissueKeys(database, "localnet", { keep() {}, revokedIds: [] });
    const { gate } = newReplica();
    for (const token of tokens)
      await expect(knock(token, {}, { gate })).rejects.toMatchObject(refused("SESSION_REVOKED"));
  });

  it("comes for the oldest session of a user who begins one too many, and for no other", async () => {
    const made: Awaited<ReturnType<typeof newSession>>[] = [];
    for (let count = 0; count < SESSIONS_OF_USER_MAX_COUNT; count++) made.push(await newSession());
    await newSession({ userReference: "bob" });
    for (const { token } of made) await knock(token);
    await newSession();
    await expect(knock(made[0]!.token)).rejects.toMatchObject(refused("SESSION_REVOKED"));
    for (const { token } of made.slice(1)) await knock(token);
  });

  it("is written into the audit trail, as its beginning is", async () => {
    const { id } = await newSession();
    await revokeSession(replica.deps, caller, id);
    await revokeSession(replica.deps, caller, id);
    const events = await database.query("SELECT action FROM audit_event WHERE subject = $1 ORDER BY id", [
      id,
    ]);
    expect(events).toEqual([{ action: "session.create" }, { action: "session.revoke" }]);
  });
});

describe("a narrow key with the scope `sessions`", () => {
  const [mine, foreign] = [objectId(), objectId()];
  it.each<[string, Limits, Partial<NewSession>, string]>([
    ["another user", { userReferences: ["bob"] }, {}, "user_reference"],
    [
      "another dWallet",
      { dwalletIds: [mine] },
      { limits: { dwalletIds: [foreign] } },
      "allowance.dwallet_ids",
    ],
    [
      "another algorithm",
      { algorithms: ["EdDSA"] },
      { limits: { algorithms: ["EdDSA", "Taproot"] } },
      "allowance.algorithms",
    ],
    [
      "a budget for each session",
      { budget: { windowSeconds: 60, maxCount: 1, maxMicroUsd: undefined } },
      { limits: { budget: { windowSeconds: 60, maxCount: 1, maxMicroUsd: undefined } } },
      "allowance.budget",
    ],
  ])("cannot give a session %s", async (_, limits, session, field) => {
    const narrow = await keyOf(limits, { scopes: ["sessions", "read"] });
    await expect(newSession(session, narrow)).rejects.toMatchObject({
      ...{ reason: "SESSION_TOO_WIDE", metadata: { field } },
    });
  });

  it("gives a session propose if it has sign, and release only if it has release", async () => {
    const signer = await keyOf({}, { scopes: ["sessions", "sign"] });
    const { token } = await newSession({ scopes: ["propose"] }, signer);
    await knock(token, {}, { method: Signing.method.submitSign });
    for (const method of [Signing.method.releaseSign, Signing.method.getSign])
      await expect(knock(token, {}, { method })).rejects.toMatchObject(refused("SCOPE_MISSING"));
    const asked = newSession({ scopes: ["release"] }, signer);
    await expect(asked).rejects.toMatchObject(refused("SESSION_TOO_WIDE"));
    const approver = await newSession({ scopes: ["release"] });
    await knock(approver.token, {}, { method: Signing.method.releaseSign });
    const submission = knock(approver.token, {}, { method: Signing.method.submitSign });
    await expect(submission).rejects.toMatchObject(refused("SCOPE_MISSING"));
  });

  it("cannot give a session a scope that it lacks", async () => {
    const narrow = await keyOf({}, { scopes: ["sessions", "read"] });
    await expect(newSession({ scopes: ["read", "sign"] }, narrow)).rejects.toMatchObject({
      ...{ reason: "SESSION_TOO_WIDE", metadata: { field: "scopes" } },
    });
  });

  it("gives a session its own limits if the session asks for none", async () => {
    const narrow = await keyOf(
      { userReferences: ["alice", "bob"], dwalletIds: [mine], algorithms: ["EdDSA"] },
      { scopes: ["sessions", "read"] },
    );
    expect((await newSession({}, narrow)).allowance).toMatchObject({
      ...{ userReferences: ["alice"], dwalletIds: [mine], algorithms: ["EdDSA"] },
    });
  });

  it("sees and revokes only the sessions of its users", async () => {
    const narrow = await keyOf({ userReferences: ["bob"] }, { scopes: ["sessions", "read"] });
    const [alice, bob] = [await newSession(), await newSession({ userReference: "bob" })];
    expect(await refusalOf(readSession(database, narrow, alice.id))).toBe("SESSION_NOT_FOUND");
    expect(await refusalOf(revokeSession(replica.deps, narrow, alice.id))).toBe("SESSION_NOT_FOUND");
    expect(await revokeUserSessions(replica.deps, narrow, "alice")).toBe(0);
    const client = clientOf(Sessions, createSessionsService(replica.deps), () => narrow);
    const { sessions } = await client.listSessions({});
    expect(sessions.map(({ sessionId }) => sessionId)).toEqual([bob.id]);
    await knock(alice.token);
  });
});

describe("the rate of calls", () => {
  it("is one for all sessions of a user, and separate from other users' and keys'", async () => {
    // Only one call, because the clock of the buckets stands still.
    const limited = newReplica(0.001);
    const { plaintext } = await insertApiKey(database, TEST_ORIGIN, {
      projectId,
      name: "k",
      scopes: ["read"],
    });
    const [first, second] = [await newSession(), await newSession()];
    await knock(first.token, {}, limited);
    await expect(knock(second.token, {}, limited)).rejects.toMatchObject(refused("RATE_LIMITED"));
    await expect(knock(first.token, {}, limited)).rejects.toMatchObject(refused("RATE_LIMITED"));
    await knock((await newSession({ userReference: "bob" })).token, {}, limited);
    await knock(plaintext, {}, limited);
  });

  it("has a limit for all sessions of a project, which one user cannot use up", async () => {
    const limited = newReplica(0.001, 2);
    const tokens = [];
    for (const userReference of ["alice", "bob", "carol"])
      tokens.push((await newSession({ userReference })).token);
    const [alice = "", bob = "", carol = ""] = tokens;
    await knock(alice, {}, limited);
    for (let call = 0; call < 3; call++)
      await expect(knock(alice, {}, limited)).rejects.toMatchObject(refused("RATE_LIMITED"));
    await knock(bob, {}, limited);
    await expect(knock(carol, {}, limited)).rejects.toMatchObject({
      ...refused("RATE_LIMITED"),
      headers: { "ratelimit-limit": "2" },
    });
    const { plaintext } = await insertApiKey(database, TEST_ORIGIN, {
      projectId,
      name: "k",
      scopes: ["read"],
    });
    await knock(plaintext, {}, limited);
    projectId = await projectWith(database, 0n);
    caller = await keyOf();
    await knock((await newSession()).token, {}, limited);
  });
});

describe("a page", () => {
  it("uses a session from the session's origins alone, and may read the reply", async () => {
    const { token } = await newSession({ origins: [APP, "http://localhost:5173"] });
    for (const origin of [APP, "http://localhost:5173"]) {
      const { responseHeader } = await knock(token, { origin });
      expect(responseHeader.get("access-control-allow-origin")).toBe(origin);
    }
    for (const origin of ["https://evil.example", `${APP}:444`, "http://app.example", "null", ""])
      await expect(knock(token, { origin })).rejects.toMatchObject(refused("ORIGIN_NOT_ALLOWED"));
  });

  it("may read that its session has ended, if the origin is one of the session's", async () => {
    const { token } = await newSession({ origins: [APP], lifetimeSeconds: -1 });
    const responseHeader = new Headers();
    const knockFrom = (origin: string) =>
      replica.gate({
        method: Signing.method.getSign,
        requestHeader: new Headers({ authorization: `Bearer ${token}`, origin }),
        responseHeader,
        values: createContextValues(),
      });
    await expect(knockFrom("https://evil.example")).rejects.toMatchObject(refused("SESSION_EXPIRED"));
    expect(responseHeader.get("access-control-allow-origin")).toBeNull();
    await expect(knockFrom(APP)).rejects.toMatchObject(refused("SESSION_EXPIRED"));
    expect(responseHeader.get("access-control-allow-origin")).toBe(APP);
  });

  it("of a session's origin may read the replies of public methods too, and no other page may", async () => {
    const method = Onboarding.method.getNetwork;
    const { token } = await newSession({ origins: [APP] });
    const allowedTo = async (origin: string, sent = token) =>
      (await knock(sent, { origin }, { method })).responseHeader.get("access-control-allow-origin");
    expect(await allowedTo(APP)).toBe(APP);
    expect(await allowedTo("https://evil.example")).toBeNull();
    expect(await allowedTo(APP, `tss_session_${"0".repeat(32)}`)).toBeNull();
    const ended = await newSession({ origins: [APP], lifetimeSeconds: -1 });
    expect(await allowedTo(APP, ended.token)).toBe(APP);
    expect(callerOf(await knock(token, { origin: APP }, { method }), "anonymous").network).toBe("localnet");
  });

  it("is not needed: a backend or an app, which sends no origin, uses any session", async () => {
    const { responseHeader } = await knock((await newSession({ origins: [APP] })).token);
    expect(responseHeader.get("access-control-allow-origin")).toBeNull();
    await knock((await newSession()).token);
  });

  it("cannot use a session without origins", async () => {
    const { token } = await newSession();
    await expect(knock(token, { origin: APP })).rejects.toMatchObject(refused("ORIGIN_NOT_ALLOWED"));
  });

  it.each(["app.example", "https://app.example/", "https://app.example:443", "http://app.example", "*"])(
    "has an origin as browsers write it, so a session cannot name %s",
    async (origin) => {
      await expect(newSession({ origins: [origin] })).rejects.toMatchObject(refused("VALIDATION"));
    },
  );

  it("is refused with a project key, unless the key allows its origin", async () => {
    const newKey = async (allowedOrigins: string[]) =>
      (await insertApiKey(database, TEST_ORIGIN, { projectId, name: "k", scopes: ["read"], allowedOrigins }))
        .plaintext;
    await expect(knock(await newKey([]), { origin: APP })).rejects.toMatchObject(refused("KEY_IN_BROWSER"));
    const other = await newKey(["https://other.example"]);
    await expect(knock(other, { origin: APP })).rejects.toMatchObject(refused("ORIGIN_NOT_ALLOWED"));
    for (const key of [await newKey([APP]), await newKey(["*"])]) {
      const { responseHeader } = await knock(key, { origin: APP });
      expect(responseHeader.get("access-control-allow-origin")).toBe(APP);
    }
  });

  it("of the service itself, such as the console, may send a project key", async () => {
    const { plaintext } = await insertApiKey(database, TEST_ORIGIN, {
      projectId,
      name: "k",
      scopes: ["read"],
    });
    await knock(plaintext, { origin: "http://127.0.0.1:3000", host: "127.0.0.1:3000" });
    await knock(plaintext, { origin: "https://tss.example", "sec-fetch-site": "same-origin" });
    for (const site of ["same-site", "cross-site"]) {
      const headers = { origin: "https://app.example", "sec-fetch-site": site, host: "tss.example" };
      await expect(knock(plaintext, headers)).rejects.toMatchObject(refused("KEY_IN_BROWSER"));
    }
  });
});
