/** The limits on open streams, and the end of a stream together with its key, over the wire. */
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport, Http2SessionManager } from "@connectrpc/connect-node";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ErrorInfoSchema } from "../../../../gen/proto/google/rpc/error_details_pb.ts";
import { Health } from "../../../../gen/proto/grpc/health/v1/health_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../../../../src/service/access/access-gate.ts";
import { deleteIdentityProvider } from "../../../../src/service/access/identity/identity-providers.ts";
import {
  insertApiKey,
  revokeApiKey,
  setAllowedOrigins,
} from "../../../../src/service/access/keys/api-keys.ts";
import {
  type ApiKeyLookup,
  createAdminKeyLookup,
  createApiKeyLookup,
} from "../../../../src/service/access/keys/stored-keys.ts";
import { createSessionLookup, type SessionLookup } from "../../../../src/service/access/stored-sessions.ts";
import { createStreamLeases, type StreamLeases } from "../../../../src/service/access/stream-leases.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Signals } from "../../../../src/service/platform/coordination/signals.ts";
import { createErrorInterceptor } from "../../../../src/service/platform/errors/error-interceptor.ts";
import { createErrorMapping } from "../../../../src/service/platform/errors/error-mapping.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { revokeSession } from "../../../../src/service/users/end-sessions.ts";
import { createProviderSessions } from "../../../../src/service/users/provider-sessions.ts";
import { createSessionDeps, insertSession } from "../../../../src/service/users/sessions.ts";
import { registerService } from "../../../../src/transport/calls/service-registration.ts";
import { startServer, type TransportServer } from "../../../../src/transport/start-server.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { providerOf } from "../../../support/database/provider-row.ts";
import { projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

const NEVER_MS = 1_000_000_000;
let database: Database;
let projectId: string;
let nowMs = 0;
let isDown = false;
let lookup: ApiKeyLookup;
let sessionLookup: SessionLookup;
let signals: Signals;
let leases: StreamLeases;
let server: TransportServer;
let sessions: Http2SessionManager;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  isDown = false;
  projectId = await projectWith(database, 0n);
  signals = createLocalSignals();
  const failing: Pick<Database, "query"> = {
    query: (...statement) => (isDown ? Promise.reject(new Error("away")) : database.query(...statement)),
  };
  const options = { database: failing, signals, log: silentLog, now: () => nowMs };
  lookup = createApiKeyLookup(options);
  sessionLookup = createSessionLookup(options);
  const bounds = { perKey: 2, perProject: 3, perAddress: 1 };
  leases = createStreamLeases({ bounds, signals, sweepMs: NEVER_MS });
  const errors = createErrorMapping(() => {});
  server = await startServer({
    host: "127.0.0.1",
    port: 0,
    errors,
    services: [registerService(Signing, { watchSign })],
    interceptors: [createErrorInterceptor(errors), leases.interceptor],
    gate: createAccessGate({
      lookup,
      sessionLookup,
      adminLookup: createAdminKeyLookup(options),
      limiter: { take: () => undefined, takeOfSessions: () => undefined },
      adminApiKey: undefined,
      networks: ["localnet"],
      beginTrace: () => ({ requestId: "r-1", address: "192.0.2.1" }),
    }),
  });
  sessions = new Http2SessionManager(server.url);
});
afterEach(async () => {
  sessions.abort();
  leases.close();
  await server.close();
});

/** Sends one message and then waits until it is ended. */
async function* watchSign(_request: object, { signal }: { readonly signal: AbortSignal }) {
  yield { cursor: "first" };
  await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
}

const newKey = () => insertApiKey(database, TEST_ORIGIN, { projectId, name: "k", scopes: ["read"] });
const newSession = (userReference: string, apiKeyId?: string, identityProviderId?: string) =>
  database.transaction((db) =>
    insertSession(
      createSessionDeps({ database, lookup: sessionLookup, usersMaxCountOf: () => 1_000 }),
      db,
      TEST_ORIGIN,
      {
        ...{ projectId, network: "localnet", userReference, scopes: ["read"], apiKeyId, identityProviderId },
      },
    ),
  );
const transport = () => createGrpcTransport({ baseUrl: server.url, sessionManager: sessions });

/** Opens a watch and waits for its first message. */
async function open(key: string, origin?: string) {
  const leaving = new AbortController();
  const headers = { "x-api-key": key, ...(origin !== undefined && { origin }) };
  const call = { headers, signal: leaving.signal };
  const messages = createClient(Signing, transport()).watchSign({ signRequestId: newId() }, call);
  const iterator = messages[Symbol.asyncIterator]();
  await iterator.next();
  return { end: reasonOf(iterator.next()), leave: () => leaving.abort() };
}

async function reasonOf(next: Promise<unknown>): Promise<string> {
  try {
    await next;
    return "a message";
  } catch (error) {
    const { code } = ConnectError.from(error);
    const [info] = ConnectError.from(error).findDetails(ErrorInfoSchema);
    return `${Code[code]} ${info?.reason} ${JSON.stringify(info?.metadata)}`;
  }
}

describe("an open stream", () => {
  it("ends at once when its key is revoked, with the error of a new call, and other streams continue", async () => {
    const [key, other] = [await newKey(), await newKey()];
    const [watch, kept] = [await open(key.plaintext), await open(other.plaintext)];
    await revokeApiKey({ db: database, lookup }, TEST_OPERATOR, key.id);
    expect(await watch.end).toMatch(/^Unauthenticated REVOKED_KEY/);
    await expect(open(key.plaintext)).rejects.toThrow(/revoked/);
    kept.leave();
    expect(await kept.end).toMatch(/^Canceled/);
  });

  it.each([
    ["is revoked elsewhere", "revoked_at = now()", /^Unauthenticated REVOKED_KEY/],
    ["expires", "expires_at = now()", /^Unauthenticated EXPIRED_KEY/],
    [
      "may be used elsewhere only",
      "allowed_addresses = '{203.0.113.7}'",
      /^PermissionDenied ADDRESS_NOT_ALLOWED/,
    ],
  ])("ends at the next check if its key %s", async (_, change, reason) => {
    const key = await newKey();
    const watch = await open(key.plaintext);
    await database.query(`UPDATE api_key SET ${change} WHERE id = $1`, [key.id]);
    nowMs += 5_000;
    await leases.sweep();
    expect(await watch.end).toMatch(reason);
  });

  it.each([["https://app.example"], ["https://admin.example"]])(
    "of a page ends at once when its key no longer allows %s, and another page's stream continues",
    async (removed) => {
      const both = ["https://app.example", "https://admin.example"];
      const [allowed = ""] = both.filter((origin) => origin !== removed);
      const key = await insertApiKey(database, TEST_ORIGIN, {
        ...{ projectId, name: "k", scopes: ["read"], allowedOrigins: both },
      });
      const watches = new Map<string, Awaited<ReturnType<typeof open>>>();
      for (const origin of both) watches.set(origin, await open(key.plaintext, origin));
      const change = { apiKeyId: key.id, allowedOrigins: [allowed] };
      await setAllowedOrigins({ db: database, lookup }, TEST_OPERATOR, change);
      expect(await watches.get(removed)?.end).toMatch(/^PermissionDenied ORIGIN_NOT_ALLOWED/);
      watches.get(allowed)?.leave();
      expect(await watches.get(allowed)?.end).toMatch(/^Canceled/);
    },
  );

  it("continues while the database does not answer", async () => {
    const key = await newKey();
    const watch = await open(key.plaintext);
    isDown = true;
    nowMs += 5_000;
    await leases.sweep();
    isDown = false;
    await revokeApiKey({ db: database, lookup }, TEST_OPERATOR, key.id);
    expect(await watch.end).toMatch(/REVOKED_KEY/);
  });
});

describe("an open stream of a session", () => {
  it("ends at once when the session is revoked, and other sessions' streams continue", async () => {
    const [session, other] = [await newSession("alice"), await newSession("bob")];
    const [watch, kept] = [await open(session.token!), await open(other.token!)];
    const caller = { kind: "project", projectId, apiKeyId: newId(), network: "localnet" } as const;
    const deps = createSessionDeps({ database, lookup: sessionLookup, usersMaxCountOf: () => 1_000 });
    await revokeSession(deps, { ...caller, scopes: ["sessions"], origin: TEST_ORIGIN }, session.id);
    expect(await watch.end).toMatch(/^Unauthenticated SESSION_REVOKED/);
    kept.leave();
    expect(await kept.end).toMatch(/^Canceled/);
  });

  it("ends at once when the session's identity provider is removed, and other sessions' streams continue", async () => {
    const providerId = await providerOf(database, projectId);
    const exchanged = await newSession("alice", undefined, providerId);
    const other = await newSession("alice");
    const [watch, kept] = [await open(exchanged.token!), await open(other.token!)];
    const removal = { database, sessions: createProviderSessions(signals) };
    await deleteIdentityProvider(removal, TEST_OPERATOR, providerId);
    expect(await watch.end).toMatch(/^Unauthenticated SESSION_REVOKED/);
    kept.leave();
    expect(await kept.end).toMatch(/^Canceled/);
  });

  it("ends at the next check when the session expires, or the key that created it is revoked", async () => {
    const key = await newKey();
    const [expiring, made] = [await newSession("alice"), await newSession("bob", key.id)];
    const watches = [await open(expiring.token!), await open(made.token!)];
    await database.query("UPDATE session SET expires_at = now() WHERE id = $1", [expiring.id]);
    await revokeApiKey({ db: database, lookup }, TEST_OPERATOR, key.id);
    nowMs += 5_000;
    await leases.sweep();
    expect(await watches[0]!.end).toMatch(/^Unauthenticated SESSION_EXPIRED/);
    expect(await watches[1]!.end).toMatch(/^Unauthenticated SESSION_REVOKED/);
  });
});

describe("the streams of one caller", () => {
  const refusal = (per: string, maxCount: number) =>
    `ResourceExhausted TOO_MANY_STREAMS ${JSON.stringify({ per, maxCount: String(maxCount) })}`;
  const tryOpen = (key: string) => reasonOf(open(key));

  it("are bounded for each key and each project, until one ends", async () => {
    const [one, two] = [await newKey(), await newKey()];
    const first = await open(one.plaintext);
    await open(one.plaintext);
    expect(await tryOpen(one.plaintext)).toBe(refusal("key", 2));
    await open(two.plaintext);
    expect(await tryOpen(two.plaintext)).toBe(refusal("project", 3));
    await revokeApiKey({ db: database, lookup }, TEST_OPERATOR, one.id);
    await first.end;
    await open(two.plaintext);
  });

  it("are bounded for all sessions of a user together", async () => {
    const sessions = [await newSession("alice"), await newSession("alice"), await newSession("alice")];
    await open(sessions[0]!.token!);
    await open(sessions[1]!.token!);
    expect(await tryOpen(sessions[2]!.token!)).toBe(refusal("user", 2));
    await open((await newSession("bob")).token!);
  });

  it("are bounded per address without a key", async () => {
    const health = createClient(Health, transport());
    const watch = () => health.watch({})[Symbol.asyncIterator]();
    await watch().next();
    expect(await reasonOf(watch().next())).toBe(refusal("address", 1));
  });
});
