/** Narrow keys over the contract: what an operator may grant, and what the operator and the key itself are shown. */
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { Account } from "../../../../../gen/proto/tss/v1/account_pb.ts";
import { ApiKey_Scope as Scope } from "../../../../../gen/proto/tss/v1/admin_pb.ts";
import { SignatureAlgorithm } from "../../../../../gen/proto/tss/v1/types_pb.ts";
import { createAccountService } from "../../../../../src/service/access/account-service.ts";
import type { Database } from "../../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../../support/database/database.ts";
import { keyed, objectId, projectWith, TEST_ORIGIN } from "../../../../support/database/rows.ts";
import { type AdminReplica, adminReplica } from "../../../../support/service/admin-client.ts";
import { clientOf, refusalOf } from "../../../../support/service/service-client.ts";

const LIMITS = {
  userReferences: ["alice", "user 7"],
  dwalletIds: [objectId()],
  algorithms: [SignatureAlgorithm.Taproot, SignatureAlgorithm.EdDSA],
  budget: { windowSeconds: 86_400, maxCount: 10, maxMicroUsd: 5_000_000n },
};
let database: Database;
let projectId: string;
let replica: AdminReplica;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
  replica = adminReplica(database, Date.now);
});

const create = (more: object, options = {}) =>
  replica.admin.createApiKey({ projectId, name: "narrow", scopes: [Scope.sign], ...more }, options);

it("a narrow key is shown with its limits and what is left, to the operator and to itself", async () => {
  const { apiKey, plaintext } = await create({ allowance: LIMITS });
  expect(apiKey).toMatchObject({ allowance: LIMITS, budgetLeft: { count: 10, microUsd: 5_000_000n } });
  expect(apiKey?.budgetLeft?.growTime).toBeUndefined();
  await database.query(
    `UPDATE allowance SET newest_slot = budget_slot(now(), window_seconds), slot_counts = '{4,1}',
       slot_micro_usd = '{1000000,250000}' WHERE id = $1`,
    [apiKey!.apiKeyId],
  );
  const left = { count: 5, microUsd: 3_750_000n };
  const [listed] = (await replica.admin.listApiKeys({ projectId })).apiKeys;
  expect(listed).toMatchObject({ allowance: LIMITS, budgetLeft: left });
  const inMs = timestampDate(listed!.budgetLeft!.growTime!).getTime() - Date.now();
  expect(inMs).toBeGreaterThan(22 * 3_600_000);
  expect(inMs).toBeLessThanOrEqual(25 * 3_600_000);

  const { allowance } = (await replica.lookup.find(plaintext))!;
  const caller = { kind: "project", projectId, apiKeyId: apiKey!.apiKeyId, network: "localnet" } as const;
  const account = clientOf(Account, createAccountService({ database }), () => ({
    ...caller,
    scopes: ["sign"],
    allowance,
    origin: TEST_ORIGIN,
  }));
  expect(await account.getAccount({})).toMatchObject({ allowance: LIMITS, budgetLeft: left });
  expect((await account.listAccountKeys({})).accountKeys).toMatchObject([
    { allowance: LIMITS, budgetLeft: left },
  ]);
});

it("a key without limits shows none", async () => {
  const { apiKey } = await create({});
  expect(apiKey).toMatchObject({ name: "narrow" });
  expect([apiKey?.allowance, apiKey?.budgetLeft]).toEqual([undefined, undefined]);
});

it("a repeated creation returns the same narrow key with its limits", async () => {
  const headers = { headers: { "idempotency-key": keyed("narrow").key } };
  const first = await create({ allowance: LIMITS }, headers);
  const again = await create({ allowance: LIMITS }, headers);
  expect(again.apiKey).toMatchObject({ apiKeyId: first.apiKey!.apiKeyId, allowance: LIMITS });
  const other = create({ allowance: { algorithms: LIMITS.algorithms } }, headers);
  expect(await refusalOf(other)).toBe("IDEMPOTENCY_KEY_REUSED");
});

it.each<[string, object, string]>([
  ["no limit at all", { allowance: {} }, "allowance"],
  ["a budget without a limit", { allowance: { budget: { windowSeconds: 60 } } }, "allowance.budget"],
  [
    "users, and the scope billing",
    { allowance: { userReferences: ["alice"] }, scopes: [Scope.sign, Scope.billing] },
    "scopes",
  ],
  [
    "dWallets, and the scope onboard",
    { allowance: { dwalletIds: [objectId()] }, scopes: [Scope.sign, Scope.onboard] },
    "scopes",
  ],
])("a key with %s is refused", async (_, key, field) => {
  await expect(create(key)).rejects.toThrow(`[invalid_argument] ${field}: `);
  expect(await database.query("SELECT 1 FROM api_key WHERE project_id = $1", [projectId])).toEqual([]);
});

it("the key that replaces a narrow key has its limits and what it has left", async () => {
  const { apiKey } = await create({ allowance: LIMITS });
  await database.query(
    `UPDATE allowance SET newest_slot = budget_slot(now(), window_seconds), slot_counts = '{4}', slot_micro_usd = '{1}'
     WHERE id = $1`,
    [apiKey!.apiKeyId],
  );
  const rotated = await replica.admin.rotateApiKey({ apiKeyId: apiKey!.apiKeyId });
  const shown = { allowance: LIMITS, budgetLeft: { count: 6, microUsd: 4_999_999n } };
  expect(rotated.apiKey).toMatchObject(shown);
  expect(rotated.replacedApiKey).toMatchObject(shown);
});
