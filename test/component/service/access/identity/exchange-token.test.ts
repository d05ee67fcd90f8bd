import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SCOPES } from "../../../../../src/service/access/caller.ts";
import { createProofNonces } from "../../../../../src/service/access/dpop/proof-nonces.ts";
import { createProofCheck } from "../../../../../src/service/access/dpop/verify-proof.ts";
import {
  createTokenExchange,
  type ExchangeCall,
  type TokenExchange,
} from "../../../../../src/service/access/identity/exchange-token.ts";
import {
  createIdentityProvider,
  deleteIdentityProvider,
  type IdentityProviderSettings,
  listIdentityProviders,
} from "../../../../../src/service/access/identity/identity-providers.ts";
import { createKeySets } from "../../../../../src/service/access/identity/key-sets.ts";
import {
  createSessionLookup,
  type SessionLookup,
} from "../../../../../src/service/access/stored-sessions.ts";
import { createLocalCoordination } from "../../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../../src/service/platform/store/database.ts";
import { revokeUserSessions } from "../../../../../src/service/users/end-sessions.ts";
import { createProviderSessions } from "../../../../../src/service/users/provider-sessions.ts";
import { createSessionDeps, createSessionOfUser } from "../../../../../src/service/users/sessions.ts";
import {
  signedToken,
  type TokenKey,
  thumbprintOf,
  tokenKey,
} from "../../../../support/crypto/signed-token.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { keyed, projectWith, TEST_OPERATOR } from "../../../../support/database/rows.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const ISSUER = "https://login.example";
const PAGE = "https://app.example";
const NOW_MS = Date.now();
const key = tokenKey("ES256", "k1");
const device = tokenKey("ES256");
const setOf = (...keys: readonly TokenKey[]) => JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });
const SETTINGS: IdentityProviderSettings = {
  issuer: ISSUER,
  audiences: ["app"],
  referenceClaim: "sub",
  keySetUrl: undefined,
  keySet: setOf(key),
  algorithms: ["ES256"],
  tokenMaxAgeSeconds: 600,
  allowsUnbound: true,
  scopes: ["sign", "read"],
  origins: [PAGE],
  sessionSeconds: 900,
  budget: { windowSeconds: 3_600, maxCount: 5, maxMicroUsd: undefined },
};

let database: Database;
let projectId: string;
let lookup: SessionLookup;
let exchange: TokenExchange;
let coordinationMs = 0;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
  lookup = createSessionLookup({ database, log: silentLog });
  exchange = newExchange();
});

function newExchange(networks: readonly string[] = ["localnet"]) {
  const seen = new Set<string>();
  const sessions = createSessionDeps({ database, lookup, usersMaxCountOf: () => 1_000 });
  return createTokenExchange({
    db: database,
    networks,
    keySets: createKeySets({
      log: silentLog,
      fetch: async () => {
        throw new Error("the provider is down");
      },
    }),
    checkProof: createProofCheck({
      nonces: createProofNonces(new Uint8Array(32)),
      seenProofs: { isFirst: async (name) => seen.size !== seen.add(name).size },
    }),
    createSession: (session) => createSessionOfUser(sessions, session),
    coordination: createLocalCoordination(() => coordinationMs),
    now: () => NOW_MS,
  });
}

const removal = () => ({ database, sessions: createProviderSessions() });

const provide = (settings: Partial<IdentityProviderSettings> = {}, project = projectId) =>
  createIdentityProvider(
    database,
    TEST_OPERATOR,
    undefined,
    project,
    { ...SETTINGS, ...settings },
    {
      allowsInside: false,
    },
  );

const tokenOf = (sub: string, claims: object = {}, by: TokenKey = key) => {
  const iat = Math.floor(NOW_MS / 1_000);
  const all = { iss: ISSUER, aud: "app", sub, iat, exp: iat + 60, ...claims };
  return signedToken({ alg: "ES256", kid: "k1" }, all, by.privateKey);
};

const callWith = (call: Partial<ExchangeCall> = {}): ExchangeCall => ({
  origin: { requestId: "r-1", address: "192.0.2.1" },
  idempotency: undefined,
  page: undefined,
  responseHeader: new Headers(),
  proof: undefined,
  method: "POST",
  url: "http://replica/tss.v1.Identity/ExchangeToken",
  ...call,
});
const exchanged = (idToken: string, call: Partial<ExchangeCall> = {}, project = projectId) =>
  exchange({ projectId: project, idToken, call: callWith(call) });
const proofOf = (by: TokenKey) =>
  signedToken(
    { typ: "dpop+jwt", alg: "ES256", jwk: by.jwk },
    {
      jti: randomUUID(),
      iat: NOW_MS / 1_000,
      htm: "POST",
      htu: "https://tss.example/tss.v1.Identity/ExchangeToken",
    },
    by.privateKey,
  );
const refused = (fault: string) => ({ reason: "TOKEN_INVALID", metadata: { fault } });

describe("an ID token", () => {
  it("is exchanged for a session of its user, with what the provider grants", async () => {
    await provide();
    const { token = "", userReference, expiresAt } = await exchanged(tokenOf("user-7"));
    expect(userReference).toBe("user-7");
    const lifetimeMs = expiresAt.getTime() - Date.now();
    expect(lifetimeMs).toBeGreaterThan(890_000);
    expect(lifetimeMs).toBeLessThanOrEqual(900_000);
    expect(await lookup.find(token)).toMatchObject({
      projectId,
      userReference: "user-7",
      scopes: ["sign", "read"],
      origins: [PAGE],
      proofKeyThumbprint: null,
      apiKeyId: null,
      allowance: { userReferences: ["user-7"], budget: SETTINGS.budget },
    });
  });

  it("gives all sessions of a user one budget, and each user its own", async () => {
    await provide();
    const allowanceOf = async (user: string) => {
      const { token = "" } = await exchanged(tokenOf(user));
      return (await lookup.find(token))?.allowance.id;
    };
    const id = await allowanceOf("user-7");
    await database.query("UPDATE allowance SET newest_slot = 7 WHERE id = $1", [id]);
    expect(await allowanceOf("user-7")).toBe(id);
    expect(
      await database.query("SELECT 1 FROM allowance WHERE id = $1 AND newest_slot = 7", [id]),
    ).toHaveLength(1);
    expect(await allowanceOf("user-8")).not.toBe(id);
  });

  it("of another issuer with the same `sub` is refused, even if the same key signed it", async () => {
    await provide();
    await expect(exchanged(tokenOf("user-7", { iss: "https://other.example" }))).rejects.toMatchObject(
      refused("issuer"),
    );
  });

  it("of another project's issuer is refused", async () => {
    await provide({}, await projectWith(database, 0n));
    await expect(exchanged(tokenOf("user-7"))).rejects.toMatchObject(refused("issuer"));
  });

  it("of one issuer is not verified with the keys of another issuer of the project", async () => {
    const other = tokenKey("ES256", "k1");
    await provide();
    await provide({ issuer: "https://other.example", keySet: setOf(other) });
    await expect(exchanged(tokenOf("user-7", {}, other))).rejects.toMatchObject(refused("signature"));
    const own = await exchanged(tokenOf("user-7", { iss: "https://other.example" }, other));
    expect(own.userReference).toBe("user-7");
  });

  it.each(["https://login.example\0", "", "x".repeat(513)])(
    "is refused like one of an unknown issuer if its issuer is none that a provider can have: %j",
    async (iss) => {
      await provide();
      await expect(exchanged(tokenOf("user-7", { iss }))).rejects.toMatchObject(refused("issuer"));
    },
  );

  it("is refused for an unknown project with the same words as for an unknown issuer", async () => {
    const unknown = await exchanged(tokenOf("user-7"), {}, newId()).catch((error: Error) => error);
    const foreign = await exchanged(tokenOf("user-7")).catch((error: Error) => error);
    expect(unknown).toEqual(foreign);
    expect(foreign).toMatchObject(refused("issuer"));
  });

  it("is refused for a project of a network that is not served", async () => {
    await provide();
    exchange = newExchange(["testnet"]);
    await expect(exchanged(tokenOf("user-7"))).rejects.toMatchObject(refused("issuer"));
  });

  it("is refused once its provider is deleted, and its earlier session ends", async () => {
    const { id } = await provide();
    const { token = "" } = await exchanged(tokenOf("user-7"));
    expect(await lookup.find(token)).toMatchObject({ isRevoked: false, identityProviderId: id });
    await deleteIdentityProvider(removal(), TEST_OPERATOR, id);
    await expect(exchanged(tokenOf("user-7"))).rejects.toMatchObject(refused("issuer"));
    lookup = createSessionLookup({ database, log: silentLog });
    expect(await lookup.find(token)).toMatchObject({ isRevoked: true });
  });

  it("from before all sessions of its user were ended is refused, and no other one", async () => {
    await provide();
    const before = tokenOf("user-7");
    const { token = "" } = await exchanged(before);
    const deps = createSessionDeps({ database, lookup, usersMaxCountOf: () => 1_000 });
    const end = (allowance?: { userReferences: string[] }) => {
      const { origin } = TEST_OPERATOR;
      const caller = {
        kind: "project",
        projectId,
        network: "localnet",
        apiKeyId: newId(),
        scopes: SCOPES,
      } as const;
      return revokeUserSessions(deps, { ...caller, origin, allowance: allowance as never }, "user-7");
    };
    // A key of another user ends nothing.
    expect(await end({ userReferences: ["user-8"] })).toBe(0);
    await exchanged(before);
    expect(await end()).toBe(2);
    expect(await lookup.find(token)).toMatchObject({ isRevoked: true });
    await expect(exchanged(before)).rejects.toMatchObject(refused("revoked"));
    expect(await end()).toBe(0);
    const audited = "SELECT subject FROM audit_event WHERE action = 'user.end_sessions' AND project_id = $1";
    expect(await database.query(audited, [projectId])).toEqual([{ subject: "user-7" }]);
    await exchanged(tokenOf("user-8"));
    // The database's clock goes on while the provider's stands still, so the sessions end at a time of the latter.
    await database.query(
      "UPDATE project_user SET sessions_ended_at = $2 WHERE project_id = $1 AND reference = 'user-7'",
      [projectId, new Date(NOW_MS)],
    );
    await expect(exchanged(before)).rejects.toMatchObject(refused("revoked"));
    await exchanged(tokenOf("user-7", { iat: Math.floor(NOW_MS / 1_000) + 30 }));
  });

  it("cannot be checked while its provider is down", async () => {
    await provide({ keySet: undefined, keySetUrl: "https://login.example/jwks" });
    await expect(exchanged(tokenOf("user-7"))).rejects.toMatchObject({
      reason: "IDENTITY_PROVIDER_UNAVAILABLE",
    });
  });
});

describe("a page", () => {
  it("exchanges a token if its origin is one of the provider's, and may read the reply", async () => {
    await provide();
    const responseHeader = new Headers();
    await exchanged(tokenOf("user-7"), { page: PAGE, responseHeader });
    expect(responseHeader.get("access-control-allow-origin")).toBe(PAGE);
  });

  it("of another origin is refused", async () => {
    await provide();
    for (const page of ["https://evil.example", "http://app.example", "null", `${PAGE}.evil.example`])
      await expect(exchanged(tokenOf("user-7"), { page })).rejects.toMatchObject({
        reason: "ORIGIN_NOT_ALLOWED",
      });
  });
});

describe("a device", () => {
  it("binds the session to its key by a proof", async () => {
    await provide({ allowsUnbound: false });
    const { token = "" } = await exchanged(tokenOf("user-7"), { proof: proofOf(device) });
    expect(await lookup.find(token)).toMatchObject({ proofKeyThumbprint: thumbprintOf(device) });
  });

  it("must prove a key unless its provider allows sessions without one", async () => {
    await provide({ allowsUnbound: false });
    await expect(exchanged(tokenOf("user-7"))).rejects.toMatchObject({
      reason: "PROOF_INVALID",
      metadata: { fault: "missing" },
    });
  });

  it("cannot use a proof twice, and a wrong proof creates no unbound session", async () => {
    await provide();
    const proof = proofOf(device);
    await exchanged(tokenOf("user-7"), { proof });
    for (const wrong of [proof, "x", `${proofOf(device)}x`])
      await expect(exchanged(tokenOf("user-7"), { proof: wrong })).rejects.toMatchObject({
        reason: "PROOF_INVALID",
      });
  });
});

describe("repeats", () => {
  it("with an idempotency key return the first session without its token", async () => {
    await provide();
    const first = await exchanged(tokenOf("user-7"), { idempotency: keyed("k") });
    const second = await exchanged(tokenOf("user-7"), { idempotency: keyed("k") });
    expect(second).toEqual({ ...first, token: undefined });
  });

  it("of another user with the same idempotency key get another session", async () => {
    await provide();
    const first = await exchanged(tokenOf("user-7"), { idempotency: keyed("k") });
    const other = await exchanged(tokenOf("user-8"), { idempotency: keyed("k") });
    expect(other.id).not.toBe(first.id);
    expect(other.userReference).toBe("user-8");
  });

  it("are limited for each user, whatever their addresses", async () => {
    await provide();
    const from = (index: number, sub: string) =>
      exchanged(tokenOf(sub), { origin: { address: `198.51.100.${index}` } });
    for (let index = 0; index < 20; index++) await from(index, "user-7");
    await expect(from(20, "user-7")).rejects.toMatchObject({ reason: "RATE_LIMITED", retryAfterSeconds: 60 });
    expect((await from(21, "user-8")).userReference).toBe("user-8");
    coordinationMs += 60_000;
    expect((await from(22, "user-7")).userReference).toBe("user-7");
  });

  it("are limited for each address, also with tokens that nobody issued", async () => {
    for (let index = 0; index < 100; index++)
      await expect(exchanged("a.b.c")).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
    await expect(exchanged("a.b.c")).rejects.toMatchObject({ reason: "RATE_LIMITED" });
    await expect(exchanged("a.b.c", { origin: { address: "192.0.2.2" } })).rejects.toMatchObject({
      reason: "TOKEN_INVALID",
    });
  });
});

describe("identity providers", () => {
  it("are at most eight of a project, also if they are created at once", async () => {
    const made = await Promise.allSettled(
      Array.from({ length: 12 }, (_, index) => provide({ issuer: `${ISSUER}/${index}` })),
    );
    expect(made.filter(({ status }) => status === "fulfilled")).toHaveLength(8);
    expect(await listIdentityProviders(database, ["localnet"], projectId)).toHaveLength(8);
  });

  it("write who created and deleted them to the audit trail", async () => {
    const { id } = await provide();
    await deleteIdentityProvider(removal(), TEST_OPERATOR, id);
    const events = await database.query(
      "SELECT action, project_id FROM audit_event WHERE subject = $1 ORDER BY id",
      [id],
    );
    expect(events).toEqual([
      { action: "identity_provider.create", project_id: projectId },
      { action: "identity_provider.end_sessions", project_id: projectId },
      { action: "identity_provider.delete", project_id: projectId },
    ]);
  });

  it("of another network are neither created, listed nor deleted", async () => {
    const { id } = await provide();
    const elsewhere = { ...TEST_OPERATOR, network: "testnet", networks: ["testnet"] };
    await expect(deleteIdentityProvider(removal(), elsewhere, id)).rejects.toMatchObject({
      reason: "IDENTITY_PROVIDER_NOT_FOUND",
    });
    await expect(listIdentityProviders(database, ["testnet"], projectId)).rejects.toMatchObject({
      reason: "PROJECT_NOT_FOUND",
    });
    const other = { ...SETTINGS, issuer: "https://other.example" };
    await expect(
      createIdentityProvider(database, elsewhere, undefined, projectId, other, { allowsInside: false }),
    ).rejects.toMatchObject({ reason: "PROJECT_NOT_FOUND" });
    expect(await listIdentityProviders(database, ["localnet"], projectId)).toHaveLength(1);
  });

  it.each<[string, Partial<IdentityProviderSettings>]>([
    ["settings.key_set_url", { keySet: undefined, keySetUrl: "http://login.example/jwks" }],
    ["settings.key_set_url", { keySet: undefined, keySetUrl: "https://169.254.169.254/jwks" }],
    ["settings.key_set_json", { keySet: "{}" }],
    ["settings.origins[0]", { origins: ["https://app.example/path"] }],
  ])("need a valid %s", async (field, settings) => {
    await expect(provide(settings)).rejects.toMatchObject({ reason: "VALIDATION", violations: [{ field }] });
  });
});
