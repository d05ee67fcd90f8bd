/** Two replicas rotate and name keys at the same time, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { createAdminKey } from "../../src/service/access/keys/admin-keys.ts";
import {
  insertApiKey,
  listApiKeys,
  revokeApiKey,
  rotateApiKey,
} from "../../src/service/access/keys/api-keys.ts";
import { ServiceError } from "../../src/service/platform/errors/service-error.ts";
import type { Idempotency } from "../../src/service/platform/idempotency/idempotency.ts";
import { type Database, newId } from "../../src/service/platform/store/database.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { keyed, projectWith, TEST_OPERATOR, TEST_ORIGIN } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";

const CALLS = 16;
const test = await migratedDatabase();
const RACING = { count: 8, because: "all 16 calls run at the same time, half of them on each replica" };
const pools: Database[] = [];
if (test !== undefined) {
  for (let pool = 0; pool < 2; pool++) pools.push(await openTestPool(test.url, { connections: RACING }));
}
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await test?.drop();
});

const lookup = { forget() {} };
const atOnce = <T>(call: (database: Database) => Promise<T>) =>
  Promise.allSettled(Array.from({ length: CALLS }, (_, index) => call(pools[index % 2]!)));
const won = <T>(results: readonly PromiseSettledResult<T>[]): T[] =>
  results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
const refusals = (results: readonly PromiseSettledResult<unknown>[]) =>
  results.flatMap((result) =>
    result.status === "rejected" ? [result.reason instanceof ServiceError && result.reason.reason] : [],
  );

describe.skipIf(test === undefined)("among simultaneous calls,", () => {
  const newKey = async () => {
    const projectId = await projectWith(pools[0]!, 0n);
    const key = await insertApiKey(pools[0]!, TEST_ORIGIN, { projectId, name: "web", scopes: ["sign"] });
    return { projectId, apiKeyId: key.id };
  };
  const rotate = (apiKeyId: string, idempotency?: Idempotency) => (database: Database) =>
    rotateApiKey({ database, lookup }, TEST_OPERATOR, idempotency, { apiKeyId });
  const keysOf = async (projectId: string) =>
    (await listApiKeys(pools[0]!, ["localnet"], { projectId, pageSize: 0, pageToken: "" })).rows;

  it("one rotates a key, and the others learn that it was replaced", async () => {
    const { projectId, apiKeyId } = await newKey();
    const results = await atOnce(rotate(apiKeyId));
    expect(won(results)).toHaveLength(1);
    expect(refusals(results)).toEqual(Array(CALLS - 1).fill("WRONG_STATE"));
    expect(await keysOf(projectId)).toHaveLength(2);
  });

  it("only one gets the plaintext if all have the same idempotency key", async () => {
    const { projectId, apiKeyId } = await newKey();
    const idempotency = { ...keyed(newId()), method: "tss.v1.Admin/RotateApiKey" };
    const results = won(await atOnce(rotate(apiKeyId, idempotency)));
    expect(results).toHaveLength(CALLS);
    expect(results.filter(({ plaintext }) => plaintext !== undefined)).toHaveLength(1);
    expect(new Set(results.map(({ details }) => details.id)).size).toBe(1);
    expect(await keysOf(projectId)).toHaveLength(2);
  });

  it("a revocation is never undone by a rotation", async () => {
    const { projectId, apiKeyId } = await newKey();
    await Promise.allSettled([
      rotate(apiKeyId)(pools[0]!),
      revokeApiKey({ db: pools[1]!, lookup }, TEST_OPERATOR, apiKeyId),
    ]);
    const old = (await keysOf(projectId)).find(({ id }) => id === apiKeyId);
    expect(old?.revokedAt).toBeInstanceOf(Date);
  });

  it("one gets the name of an admin key", async () => {
    const results = await atOnce((database) =>
      createAdminKey(database, TEST_OPERATOR, undefined, { name: "alice" }),
    );
    expect(won(results)).toHaveLength(1);
    expect(refusals(results)).toEqual(Array(CALLS - 1).fill("ADMIN_KEY_NAME_TAKEN"));
  });
});
