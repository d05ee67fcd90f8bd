/** An identity provider is removed while its tokens are being exchanged, on a real PostgreSQL. */
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  createIdentityProvider,
  deleteIdentityProvider,
} from "../../src/service/access/identity/identity-providers.ts";
import { newId, type Queryable } from "../../src/service/platform/store/database.ts";
import { createProviderSessions } from "../../src/service/users/provider-sessions.ts";
import { listSessions } from "../../src/service/users/session-row.ts";
import { sweepRemovedProviders } from "../../src/service/users/session-sweep.ts";
import {
  countSessions,
  createSessionDeps,
  createSessionOfUser,
  insertSession,
  type NewSession,
  SESSIONS_OF_USER_MAX_COUNT,
} from "../../src/service/users/sessions.ts";
import { tokenKey } from "../support/crypto/signed-token.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../support/database/rows.ts";
import { pollUntil } from "../support/poll-until.ts";

const COUNT = 24;
const database = await openRaceDatabase({ count: 8, because: "exchanges compete with the removal" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("the removal of an identity provider", () => {
  const db = database!;
  const deps = createSessionDeps({ database: db, lookup: { forget() {} }, usersMaxCountOf: () => 1_000 });
  let projectId: string;
  let providerId: string;

  beforeEach(async () => {
    projectId = await projectWith(db, 0n);
    providerId = await provide("https://login.example");
  });

  async function provide(issuer: string): Promise<string> {
    const settings = {
      ...{ issuer, audiences: ["app"], referenceClaim: "sub", keySetUrl: undefined },
      ...{ keySet: JSON.stringify({ keys: [tokenKey("ES256").jwk] }), algorithms: ["ES256"] as const },
      ...{ tokenMaxAgeSeconds: 600, allowsUnbound: true, scopes: ["read"] as const, origins: [] },
      ...{ sessionSeconds: 900, budget: undefined },
    };
    const options = { allowsInside: false };
    const made = await createIdentityProvider(db, TEST_OPERATOR, undefined, projectId, settings, options);
    return made.id;
  }

  const session = (userReference: string, more: Partial<NewSession> = {}): NewSession => ({
    ...{ projectId, network: "localnet", userReference, scopes: ["read"] },
    ...more,
  });
  const exchange = (userReference: string, provider = providerId) =>
    createSessionOfUser(deps, {
      ...{
        projectId,
        providerId: provider,
        network: "localnet",
        userReference,
        scopes: ["read"],
        origins: [],
      },
      ...{
        budget: undefined,
        lifetimeSeconds: 900,
        proofKeyThumbprint: undefined,
        tokenIssuedAt: new Date(),
        idempotency: undefined,
      },
      origin: { actor: `idp:${provider}` },
    });
  const remove = (id = providerId, on: Queryable = db) =>
    deleteIdentityProvider({ database: on, sessions: createProviderSessions() }, TEST_OPERATOR, id);
  const liveOf = async (user: string) => {
    const { rows } = await listSessions(
      db,
      { projectId, allowance: undefined },
      { pageSize: 200, pageToken: "" },
    );
    return rows.filter(({ userReference, revokedAt }) => userReference.startsWith(user) && revokedAt === null)
      .length;
  };
  const eventsOf = (action: string) =>
    db.query<{ actor: string; subject: string }>(
      "SELECT actor, subject FROM audit_event WHERE project_id = $1 AND action = $2",
      [projectId, action],
    );

  it("ends all of its sessions once, and no others", async () => {
    const other = await provide("https://other.example");
    await db.transaction((tx) => insertSession(deps, tx, TEST_ORIGIN, session("key")));
    await exchange("other", other);
    for (const user of ["user-1", "user-1", "user-2"]) await exchange(user);
    await db.query("UPDATE session SET revoked_at = now() WHERE user_reference = 'user-2'", []);
    expect(await remove()).toMatchObject({ endedSessionCount: 2 });
    for (const action of ["identity_provider.end_sessions", "identity_provider.delete"]) {
      expect(await eventsOf(action)).toEqual([{ actor: TEST_OPERATOR.origin.actor, subject: providerId }]);
    }
    expect([await liveOf("key"), await liveOf("other"), await liveOf("user-")]).toEqual([1, 1, 0]);
    await expect(remove()).rejects.toMatchObject({ reason: "IDENTITY_PROVIDER_NOT_FOUND" });
  });

  it("ends its sessions and refuses exchanges before it waits for one that has begun", async () => {
    await exchange("user-1");
    let removal: ReturnType<typeof remove> | undefined;
    await db.transaction(async (tx) => {
      await insertSession(deps, tx, TEST_ORIGIN, session("user-2", { identityProviderId: providerId }));
      removal = remove();
      await pollUntil(
        async () =>
          (
            await db.query(
              `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'
                 AND query LIKE '%DELETE FROM identity_provider%'`,
              [],
            )
          ).length > 0 || undefined,
      );
      expect(await liveOf("user-1")).toBe(0);
      await expect(exchange("user-3")).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
    });
    expect(await removal).toMatchObject({ endedSessionCount: 2 });
    expect(await liveOf("user-")).toBe(0);
  });

  it("frees the room that its sessions took in the project, and no other", async () => {
    const other = await provide("https://other.example");
    await exchange("other", other);
    for (const user of ["user-1", "user-2"]) await exchange(user);
    await db.query(
      "UPDATE session SET expires_at = now() - interval '1 minute' WHERE user_reference = 'user-2'",
    );
    const elsewhere = projectId;
    projectId = await projectWith(db, 0n);
    await exchange("user-3", await provide("https://login.example"));
    expect(await countSessions(db, elsewhere)).toBe(2);
    await remove();
    expect(await countSessions(db, elsewhere)).toBe(1);
    expect(await countSessions(db, projectId)).toBe(1);
  });

  it("leaves the user's older sessions their places, which its own sessions no longer take", async () => {
    const insert = () => db.transaction((tx) => insertSession(deps, tx, TEST_ORIGIN, session("alice")));
    const older = await insert();
    for (let count = 1; count < SESSIONS_OF_USER_MAX_COUNT; count++) await exchange("alice");
    await remove();
    expect((await insert()).endedIds).toEqual([]);
    for (let count = 2; count < SESSIONS_OF_USER_MAX_COUNT; count++) await insert();
    expect((await insert()).endedIds).toEqual([older.id]);
  });

  it("is finished by a repeated call after an interruption, and stays in force until then", async () => {
    await exchange("user-1");
    const interrupted: Queryable = {
      query(statement, parameters) {
        if (statement.includes("DELETE FROM identity_provider")) throw new Error("interrupted");
        return db.query(statement, parameters);
      },
    };
    await expect(remove(providerId, interrupted)).rejects.toThrow("interrupted");
    await db.query(
      "UPDATE removed_identity_provider SET removed_at = removed_at - interval '3 days' WHERE id = $1",
      [providerId],
    );
    await db.query(
      `UPDATE session SET identity_provider_id = NULL, revoked_at = now() WHERE identity_provider_id = $1`,
      [providerId],
    );
    await sweepRemovedProviders(db);
    await expect(exchange("user-1")).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
    expect(await remove()).toMatchObject({ endedSessionCount: 0, provider: { id: providerId } });
    await expect(remove()).rejects.toMatchObject({ reason: "IDENTITY_PROVIDER_NOT_FOUND" });
    for (const action of ["identity_provider.end_sessions", "identity_provider.delete"])
      expect(await eventsOf(action)).toMatchObject([{ subject: providerId }]);
  });

  it("refuses an exchange whose token was verified before", async () => {
    await remove();
    await expect(exchange("user-1")).rejects.toMatchObject({
      reason: "TOKEN_INVALID",
      metadata: { fault: "issuer" },
    });
    await expect(exchange("user-1", newId())).rejects.toMatchObject({ reason: "TOKEN_INVALID" });
  });

  it("leaves no session alive among exchanges and revocations at the same time", async () => {
    for (let index = 0; index < COUNT; index++) await exchange(`user-${index % 4}`);
    const exchanges = Array.from({ length: COUNT }, (_, index) => exchange(`user-${index}`));
    const [removed, ...settled] = await Promise.allSettled([remove(), ...exchanges]);
    const madeCount = settled.filter(({ status }) => status === "fulfilled").length;
    for (const each of settled)
      if (each.status === "rejected") expect(each.reason).toMatchObject({ reason: "TOKEN_INVALID" });
    expect(removed).toMatchObject({ status: "fulfilled", value: { endedSessionCount: COUNT + madeCount } });
    expect(await eventsOf("identity_provider.end_sessions")).toMatchObject([{ subject: providerId }]);
    expect(await liveOf("user-")).toBe(0);
  });
});
