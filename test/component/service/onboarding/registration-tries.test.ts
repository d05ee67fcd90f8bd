/** Registrations that the chain refuses: what they count towards, and when they are not retried. */
import { Ed25519Keypair } from "@mysten/sui/keypairs/ed25519";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { projectWith } from "../../../support/database/rows.ts";
import { onboardingCalls } from "../../../support/service/onboarding-calls.ts";
import { refusalOf } from "../../../support/service/service-client.ts";

const QUOTA = 4;
const WORDS = "MoveAbort 7 in coordinator";
let database: Database;
let projectId: string;
let calls: ReturnType<typeof onboardingCalls>;

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 0n);
  calls = onboardingCalls(database, { dkgsPerDay: QUOTA });
  calls.refuseWith(WORDS);
});

describe("a registration that the chain refuses", { timeout: DATABASE_TIMEOUT_MS }, () => {
  it("is sent three times a day, and then the refusal is repeated without a transaction", async () => {
    const register = await calls.registration();
    for (let call = 0; call < 6; call++) {
      await expect(register(projectId)).rejects.toMatchObject({
        reason: "CHAIN_REJECTED",
        metadata: { chainError: WORDS },
      });
    }
    expect(await triesOf(projectId)).toEqual([3]);
  });

  it("counts each attempt against the quota", async () => {
    for (let key = 0; key < 2; key++) {
      const register = await calls.registration();
      await refusalOf(register(projectId));
      await refusalOf(register(projectId));
    }
    calls.refuseWith(undefined);
    const another = await calls.registration();
    expect(await refusalOf(another(projectId))).toBe("QUOTA_EXCEEDED");
    expect((await triesOf(projectId)).toSorted()).toEqual([2, 2]);
    // Other projects have their own quotas.
    const other = await projectWith(database, 0n);
    expect((await another(other)).objectId).toMatch(/^0x/);
  });

  it("may be sent again a day later, and lands once the chain accepts it", async () => {
    const register = await calls.registration();
    for (let call = 0; call < 4; call++) await refusalOf(register(projectId));
    calls.refuseWith(undefined);
    expect(await refusalOf(register(projectId))).toBe("CHAIN_REJECTED");
    await database.query(
      "UPDATE encryption_key SET tried_at = now() - interval '25 hours' WHERE project_id = $1",
      [projectId],
    );
    expect((await register(projectId)).objectId).toMatch(/^0x/);
    expect(await triesOf(projectId)).toEqual([1]);
  });
});

it("a registration under way is sent once, however many calls wait for it", async () => {
  calls.refuseWith(undefined);
  const register = await calls.registration(new Ed25519Keypair());
  const keys = await Promise.all(Array.from({ length: 8 }, () => register(projectId)));
  expect(new Set(keys.map(({ objectId }) => objectId)).size).toBe(1);
  expect(await triesOf(projectId)).toEqual([1]);
});

async function triesOf(project: string): Promise<number[]> {
  const rows = await database.query<{ tries: number }>(
    "SELECT tries FROM encryption_key WHERE project_id = $1",
    [project],
  );
  return rows.map(({ tries }) => tries);
}
