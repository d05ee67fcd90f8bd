import type { DescMethod } from "@bufbuild/protobuf";
import { createContextValues } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Admin } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../../../../src/service/access/access-gate.ts";
import { callerOf, describeCaller, SCOPES, type Scope } from "../../../../src/service/access/caller.ts";
import { insertAdminKey, revokeAdminKey } from "../../../../src/service/access/keys/admin-keys.ts";
import { insertApiKey, revokeApiKey } from "../../../../src/service/access/keys/api-keys.ts";
import {
  type AdminKeyLookup,
  type ApiKeyLookup,
  createAdminKeyLookup,
  createApiKeyLookup,
} from "../../../../src/service/access/keys/stored-keys.ts";
import { insertProject } from "../../../../src/service/access/projects.ts";
import { createRateLimiter } from "../../../../src/service/access/rate-limiter.ts";
import { streamStandingOf } from "../../../../src/service/access/stream-leases.ts";
import { createLocalCoordination } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { API_KEY_TOPICS, topics } from "../../../../src/service/platform/coordination/topics.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { Secret } from "../../../../src/service/platform/telemetry/secret.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { silentLog } from "../../../support/silent-log.ts";

const ADMIN_KEY = "an-admin-key-of-thirty-two-characters";
let database: Database;
let projectId: string;
let nowMs = Date.now();
let lookup: ApiKeyLookup;
let adminLookup: AdminKeyLookup;

beforeAll(async () => {
  database = await openTestDatabase();
  projectId = await projectWith(database, 0n);
  lookup = createApiKeyLookup({ database: later(database), log: silentLog, now: () => nowMs });
  adminLookup = createAdminKeyLookup({ database: later(database), log: silentLog, now: () => nowMs });
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

/** The database with a clock that the test can advance, independently of the process's clock. */
let aheadMs = 0;
const later = ({ query }: Database) => ({
  query: <Row>(statement: string, parameters?: readonly unknown[]) =>
    query<Row>(
      statement.replaceAll("clock_timestamp()", `(clock_timestamp() + interval '${aheadMs} milliseconds')`),
      parameters,
    ),
});
const passed = (ms: number) => {
  nowMs += ms;
  aheadMs += ms;
};

const newKey = (scopes: readonly Scope[] = SCOPES, expiresAt?: Date, project = projectId) =>
  insertApiKey(database, TEST_ORIGIN, { projectId: project, name: "key", scopes, expiresAt });

const limiter = createRateLimiter({
  limits: {
    perSecond: { read: 0, write: 0, chain: 0, verify: 0, stream: 0, refusedKey: 0, open: 0 },
    burstSeconds: 1,
  },
});

async function knock(
  method: DescMethod,
  headers: Record<string, string>,
  networks: readonly string[] = ["localnet"],
  values = createContextValues(),
) {
  const gate = createAccessGate({
    lookup,
    adminLookup,
    adminApiKey: new Secret(ADMIN_KEY),
    networks,
    limiter,
    beginTrace: () => ({ requestId: "r-1", address: "192.0.2.1" }),
    now: () => nowMs,
  });
  await gate({ method, requestHeader: new Headers(headers), responseHeader: new Headers(), values });
  return { values };
}
const bearer = (key: string, more: Record<string, string> = {}) => ({
  authorization: `Bearer ${key}`,
  ...more,
});
const { reserveSign, getSign, watchSign } = Signing.method;
const { getNetwork } = Onboarding.method;
const { getPresignHealth } = Admin.method;

describe("the gate", () => {
  it("admits a project's key and identifies its project", async () => {
    const key = await newKey();
    for (const headers of [bearer(key.plaintext), { "x-api-key": key.plaintext }]) {
      const context = await knock(reserveSign, headers);
      expect(callerOf(context, "project")).toEqual({
        kind: "project",
        projectId,
        apiKeyId: key.id,
        network: "localnet",
        scopes: SCOPES,
        origin: { actor: `key:${key.id}`, requestId: "r-1", address: "192.0.2.1" },
      });
      expect(describeCaller(context.values)).toEqual({ network: "localnet", projectId, apiKeyId: key.id });
    }
  });

  it("requires no key on public methods", async () => {
    const context = await knock(getNetwork, {});
    expect(callerOf(context, "anonymous")).toEqual({ kind: "anonymous", network: "localnet" });
    expect(() => callerOf(context, "project")).toThrow("the gate let anonymous through");
  });

  it("gives streams, and no other calls, a check of their key that repeats its own", async () => {
    const key = await newKey(["read"]);
    const unary = await knock(getSign, bearer(key.plaintext));
    expect(streamStandingOf(unary.values)).toBeUndefined();
    const open = await knock(Onboarding.method.getProtocolParameters, {});
    expect(streamStandingOf(open.values)).toBeUndefined();
    const stream = await knock(watchSign, bearer(key.plaintext));
    const standing = streamStandingOf(stream.values)!;
    expect(standing).toMatchObject({ name: `${key.id} 192.0.2.1 `, keyId: key.id, projectId });
    await standing.check();
    await revokeApiKey({ db: database, lookup }, TEST_OPERATOR, key.id);
    await expect(standing.check()).rejects.toMatchObject({ reason: "REVOKED_KEY" });
  });

  it("accepts the admin key on admin methods only", async () => {
    expect(callerOf(await knock(getPresignHealth, bearer(ADMIN_KEY)), "admin").origin.actor).toBe("admin");
    await expect(knock(reserveSign, bearer(ADMIN_KEY))).rejects.toMatchObject({ reason: "INVALID_KEY" });
  });

  it("accepts a named admin key on admin methods only, and identifies it", async () => {
    const { plaintext } = await insertAdminKey(database, TEST_ORIGIN, { name: "alice" });
    expect(plaintext).toMatch(/^tss_admin_[0-9A-Za-z]{32}$/);
    const context = await knock(getPresignHealth, bearer(plaintext));
    expect(callerOf(context, "admin")).toEqual({
      kind: "admin",
      network: "localnet",
      networks: ["localnet"],
      origin: { actor: "admin:alice", requestId: "r-1", address: "192.0.2.1" },
    });
    expect(describeCaller(context.values)).toEqual({ network: "localnet", actor: "admin:alice" });
    await expect(knock(reserveSign, bearer(plaintext))).rejects.toMatchObject({ reason: "INVALID_KEY" });
    const unknown = `${plaintext.slice(0, -1)}${plaintext.endsWith("0") ? "1" : "0"}`;
    await expect(knock(getPresignHealth, bearer(unknown))).rejects.toMatchObject({ reason: "INVALID_KEY" });
  });

  it("requires ADMIN_API_KEY to create an admin key", async () => {
    const { plaintext } = await insertAdminKey(database, TEST_ORIGIN, { name: "bob" });
    await expect(knock(Admin.method.createAdminKey, bearer(plaintext))).rejects.toMatchObject({
      reason: "ROOT_KEY_ONLY",
    });
    await knock(Admin.method.createAdminKey, bearer(ADMIN_KEY));
    await knock(Admin.method.revokeAdminKey, bearer(plaintext));
  });

  it("refuses a revoked admin key at once in this process and within seconds in others, and an expired one", async () => {
    const { id, plaintext } = await insertAdminKey(database, TEST_ORIGIN, { name: "carol" });
    await knock(getPresignHealth, bearer(plaintext));
    await revokeAdminKey({ database, lookup: { forget() {} } }, TEST_OPERATOR, id);
    await knock(getPresignHealth, bearer(plaintext));
    nowMs += 6_000;
    const revoked = { reason: "REVOKED_KEY" };
    await expect(knock(getPresignHealth, bearer(plaintext))).rejects.toMatchObject(revoked);

    const next = await insertAdminKey(database, TEST_ORIGIN, { name: "carol-2" });
    await knock(getPresignHealth, bearer(next.plaintext));
    await revokeAdminKey({ database, lookup: adminLookup }, TEST_OPERATOR, next.id);
    await expect(knock(getPresignHealth, bearer(next.plaintext))).rejects.toMatchObject(revoked);

    const short = { name: "carol-3", expiresAt: new Date(Date.now() + aheadMs + 1_000) };
    const ending = await insertAdminKey(database, TEST_ORIGIN, short);
    await knock(getPresignHealth, bearer(ending.plaintext));
    passed(1_000);
    await expect(knock(getPresignHealth, bearer(ending.plaintext))).rejects.toMatchObject({
      reason: "EXPIRED_KEY",
    });
  });

  it("refuses missing, unknown and malformed keys", async () => {
    await expect(knock(reserveSign, {})).rejects.toMatchObject({ reason: "MISSING_KEY" });
    await expect(knock(reserveSign, { authorization: "Basic YTpi" })).rejects.toMatchObject({
      reason: "MISSING_KEY",
    });
    for (const key of ["tss_local_nope", `tss_local_${"0".repeat(32)}`, `${ADMIN_KEY}x`]) {
      await expect(knock(reserveSign, bearer(key))).rejects.toMatchObject({ reason: "INVALID_KEY" });
      await expect(knock(getPresignHealth, bearer(key))).rejects.toMatchObject({ reason: "INVALID_KEY" });
    }
  });

  it("refuses a project's key on admin methods", async () => {
    const key = await newKey();
    await expect(knock(getPresignHealth, bearer(key.plaintext))).rejects.toMatchObject({
      reason: "ADMIN_ONLY",
    });
  });

  it("refuses a revoked key at once", async () => {
    const key = await newKey();
    await knock(reserveSign, bearer(key.plaintext));
    const { revokedAt } = await revokeApiKey({ db: database, lookup }, TEST_OPERATOR, key.id);
    expect(revokedAt).toBeInstanceOf(Date);
    await expect(knock(reserveSign, bearer(key.plaintext))).rejects.toMatchObject({ reason: "REVOKED_KEY" });
  });

  it("learns at once that another replica revoked a key if the replicas share signals", async () => {
    const { signals } = createLocalCoordination();
    const [own, other] = [1, 2].map(() =>
      createApiKeyLookup({ database, signals, log: silentLog, now: () => nowMs }),
    ) as [ApiKeyLookup, ApiKeyLookup];
    const key = await newKey();
    await own.find(key.plaintext);
    const heard = new Promise<void>((resolve) => {
      signals.subscribe(topics.key(API_KEY_TOPICS, key.id), resolve);
    });
    await revokeApiKey({ db: database, lookup: other }, TEST_OPERATOR, key.id);
    await heard;
    expect(own.recall(key.plaintext)).toBeUndefined();
  });

  it("does not cache a key that was read before it was revoked", async () => {
    const key = await newKey();
    const reading = lookup.find(key.plaintext);
    lookup.forget(key.id);
    expect(await reading).toMatchObject({ id: key.id });
    expect(lookup.recall(key.plaintext)).toBeUndefined();
  });

  it("notices within seconds that another process revoked a key", async () => {
    const key = await newKey();
    await knock(reserveSign, bearer(key.plaintext));
    await revokeApiKey({ db: database, lookup: { forget() {} } }, TEST_OPERATOR, key.id);
    await knock(reserveSign, bearer(key.plaintext));
    nowMs += 6_000;
    await expect(knock(reserveSign, bearer(key.plaintext))).rejects.toMatchObject({ reason: "REVOKED_KEY" });
  });

  it("refuses a key from the moment it expires, cached or not", async () => {
    const key = await newKey(SCOPES, new Date(Date.now() + aheadMs + 1_000));
    await knock(reserveSign, bearer(key.plaintext));
    passed(1_000);
    await expect(knock(reserveSign, bearer(key.plaintext))).rejects.toMatchObject({ reason: "EXPIRED_KEY" });
  });

  it("requires the method's scope", async () => {
    const key = await newKey(["read"]);
    await knock(getSign, bearer(key.plaintext));
    await expect(knock(reserveSign, bearer(key.plaintext))).rejects.toMatchObject({
      reason: "SCOPE_MISSING",
      metadata: { scope: "sign" },
    });
  });

  it("separates the networks", async () => {
    const local = await newKey();
    const test = await newKey(
      SCOPES,
      undefined,
      await insertProject(database, TEST_ORIGIN, { name: "t", network: "testnet" }),
    );
    await knock(reserveSign, bearer(local.plaintext, { "x-network": "localnet" }));
    await expect(
      knock(reserveSign, bearer(local.plaintext, { "x-network": "testnet" })),
    ).rejects.toMatchObject({ reason: "NETWORK_MISMATCH" });
    await expect(knock(reserveSign, bearer(test.plaintext))).rejects.toMatchObject({
      reason: "NETWORK_DISABLED",
    });
    await expect(knock(getNetwork, { "x-network": "testnet" })).rejects.toMatchObject({
      reason: "NETWORK_DISABLED",
    });
  });

  it("requires x-network if there are several networks", async () => {
    const both = ["testnet", "mainnet"];
    await expect(knock(getNetwork, {}, both)).rejects.toMatchObject({ reason: "VALIDATION" });
    const context = await knock(getNetwork, { "x-network": "mainnet" }, both);
    expect(callerOf(context, "anonymous").network).toBe("mainnet");
    expect(describeCaller(context.values)).toEqual({ network: "mainnet" });
  });

  it("takes the network of a public call from its optional key if the call names none", async () => {
    const both = ["localnet", "mainnet"];
    const { plaintext } = await newKey();
    const context = await knock(getNetwork, bearer(plaintext), both);
    expect(callerOf(context, "anonymous").network).toBe("localnet");
  });

  it("describes no network that is not served, whatever a caller names", async () => {
    const served = ["localnet", "mainnet"];
    const project = await insertProject(database, TEST_ORIGIN, { name: "unserved", network: "testnet" });
    const unserved = await newKey(SCOPES, undefined, project);
    const own = await newKey();
    const invented = { "x-network": "invented" };
    for (const [method, headers] of [
      [getNetwork, invented],
      [getNetwork, bearer(unserved.plaintext)],
      [getPresignHealth, bearer(ADMIN_KEY, invented)],
      [reserveSign, bearer(own.plaintext, invented)],
      [reserveSign, bearer(unserved.plaintext)],
      [reserveSign, bearer(unserved.plaintext, { "x-network": "testnet" })],
    ] as const) {
      const values = createContextValues();
      await expect(knock(method, headers, served, values)).rejects.toMatchObject({
        reason: expect.stringMatching(/^NETWORK_/),
      });
      expect(describeCaller(values)).toEqual({});
    }
  });
});

describe("the stored part of a key", () => {
  it("is not enough to use the key, and shows its last use", async () => {
    const key = await newKey();
    await knock(reserveSign, bearer(key.plaintext));
    const stored = await database.prisma.apiKey.findUniqueOrThrow({ where: { id: key.id } });
    expect(JSON.stringify(stored)).not.toContain(key.plaintext.slice(key.prefix.length));
    expect(stored.lastUsedAt).not.toBeNull();
  });

  it("has an entry in the audit trail, without the key", async () => {
    const key = await newKey();
    const events = await database.query<{ action: string; projectId: string }>(
      `SELECT action, project_id AS "projectId" FROM audit_event WHERE subject = $1`,
      [key.id],
    );
    expect(events).toEqual([{ action: "api_key.create", projectId }]);
  });
});
