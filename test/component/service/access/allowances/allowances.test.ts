/** The limits of narrow keys are stored, found by the gate with the key itself, and shared by the keys of a rotation. */
import { createContextValues } from "@connectrpc/connect";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Signing } from "../../../../../gen/proto/tss/v1/signing_pb.ts";
import { createAccessGate } from "../../../../../src/service/access/access-gate.ts";
import type { Limits } from "../../../../../src/service/access/allowances/allowances.ts";
import { callerOf, type Scope } from "../../../../../src/service/access/caller.ts";
import { insertApiKey, readApiKey, rotateApiKey } from "../../../../../src/service/access/keys/api-keys.ts";
import {
  createAdminKeyLookup,
  createApiKeyLookup,
} from "../../../../../src/service/access/keys/stored-keys.ts";
import type { Database, Queryable } from "../../../../../src/service/platform/store/database.ts";
import { reissueKeys } from "../../../../../src/service/restore/reissue-keys.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { objectId, projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../../../../support/database/rows.ts";
import { silentLog } from "../../../../support/silent-log.ts";

const NARROW = {
  userReferences: ["alice", "bob"],
  dwalletIds: [objectId()],
  algorithms: ["EdDSA", "Taproot"],
  budget: { windowSeconds: 86_400, maxCount: 10, maxMicroUsd: 5_000_000n },
} as const satisfies Limits;

let database: Database;
let projectId: string;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
});

describe("the limits of a narrow key", () => {
  it("reach the caller through the gate in the one statement that finds the key", async () => {
    const { id, plaintext } = await keyWith(NARROW);
    const { caller, statementCount } = await knock(plaintext);
    expect(caller.allowance).toEqual({ id, ...NARROW });
    const ordinary = await knock((await keyWith({})).plaintext);
    expect(ordinary.caller.allowance).toBeUndefined();
    expect([statementCount, ordinary.statementCount]).toEqual([1, 1]);
  });

  it.each([
    ["one limit alone", { algorithms: ["EdDSA"] }],
    ["a budget without a count", { budget: { windowSeconds: 60, maxCount: undefined, maxMicroUsd: 1n } }],
    ["a budget without a sum", { budget: { windowSeconds: 60, maxCount: 1, maxMicroUsd: undefined } }],
  ] as const)("leave absent limits open: %s", async (_, limits) => {
    const { plaintext, id } = await keyWith(limits);
    expect((await knock(plaintext)).caller.allowance).toEqual({
      id,
      userReferences: undefined,
      dwalletIds: undefined,
      algorithms: undefined,
      budget: undefined,
      ...limits,
    });
  });

  it("take no row for a key without limits", async () => {
    const { id } = await keyWith({});
    expect(await database.query("SELECT 1 FROM allowance WHERE project_id = $1", [projectId])).toEqual([]);
    expect(await readApiKey(database, "localnet", id)).toMatchObject({
      allowance: undefined,
      budgetLeft: undefined,
    });
  });

  it("are shared by the key that replaces it, so a rotation does not renew the budget", async () => {
    const old = await keyWith(NARROW);
    await spend(old.id, 3, 1_500_000n);
    const rotated = await rotate(old.id);
    for (const { allowance, budgetLeft } of [rotated.details, rotated.replaced]) {
      expect(allowance).toEqual({ id: old.id, ...NARROW });
      expect(budgetLeft).toMatchObject({ leftCount: 7, leftMicroUsd: 3_500_000n });
    }
    expect((await rotate(rotated.details.id)).details.allowance?.id).toBe(old.id);
  });

  it("are carried over when keys are issued again", async () => {
    const old = await keyWith(NARROW);
    await spend(old.id, 10, 10n);
    const made: string[] = [];
    await reissueKeys(database, "localnet", { keep: (key) => made.push(key.apiKeyId), revokedIds: [] });
    const details = await Promise.all(made.map((id) => readApiKey(database, "localnet", id)));
    expect(details.find(({ rotatedFrom }) => rotatedFrom === old.id)).toMatchObject({
      allowance: { id: old.id, ...NARROW },
      budgetLeft: { leftCount: 0, leftMicroUsd: 4_999_990n },
    });
  });

  it.each<[string, Limits, Scope]>([
    ["users", { userReferences: ["alice"] }, "billing"],
    ["dWallets", { dwalletIds: [objectId()] }, "billing"],
    ["dWallets", { dwalletIds: [objectId()] }, "onboard"],
  ])("refuse a key of %s the scope that would evade them: %s, %s", async (_, limits, scope) => {
    await expect(insert({ limits, scopes: ["read", scope] })).rejects.toMatchObject({
      reason: "VALIDATION",
      violations: [{ field: "scopes" }],
    });
  });

  it("permit onboarding for users, and billing for a key that is limited in other ways", async () => {
    await insert({ limits: { userReferences: ["alice"] }, scopes: ["onboard"] });
    const { algorithms, budget } = NARROW;
    await insert({ limits: { algorithms, budget }, scopes: ["billing", "onboard"] });
  });
});

function insert(key: { readonly limits: Limits; readonly scopes: readonly Scope[] }) {
  return database.transaction((db) => insertApiKey(db, TEST_ORIGIN, { projectId, name: "k", ...key }));
}

function keyWith(limits: Limits) {
  return insert({ limits, scopes: ["sign", "read"] });
}

function rotate(apiKeyId: string) {
  return rotateApiKey({ database, lookup: { forget: () => {} } }, TEST_OPERATOR, undefined, { apiKeyId });
}

/** Books requests in the current slot. */
async function spend(allowanceId: string, count: number, microUsd: bigint): Promise<void> {
  await database.query(
    `UPDATE allowance SET newest_slot = budget_slot(now(), window_seconds), slot_counts = ARRAY[$2::integer],
       slot_micro_usd = ARRAY[$3::bigint] WHERE id = $1`,
    [allowanceId, count, microUsd],
  );
}

/** Lets the gate decide about a call. Counts the statements until then. */
async function knock(plaintext: string) {
  const statements: string[] = [];
  const recorded: Queryable = {
    query(text, ...rest) {
      if (!text.startsWith("UPDATE api_key SET last_used_at")) statements.push(text);
      return database.query(text, ...rest);
    },
  };
  const options = { database: recorded, log: silentLog };
  const gate = createAccessGate({
    lookup: createApiKeyLookup(options),
    adminLookup: createAdminKeyLookup(options),
    limiter: { take: () => undefined, takeOfSessions: () => undefined },
    adminApiKey: undefined,
    networks: ["localnet"],
    beginTrace: () => ({ requestId: "r-1", address: "192.0.2.1" }),
  });
  const values = createContextValues();
  const requestHeader = new Headers({ "x-api-key": plaintext });
  await gate({ method: Signing.method.getSign, requestHeader, responseHeader: new Headers(), values });
  return { caller: callerOf({ values }, "project"), statementCount: statements.length };
}
