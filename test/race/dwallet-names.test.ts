/** Names of dWallets under simultaneous calls, on a real PostgreSQL. */
import { afterAll, describe, expect, it } from "vitest";
import { listDWallets } from "../../src/service/onboarding/dwallet-row.ts";
import { failDWallet } from "../../src/service/onboarding/dwallet-session.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { moneyOf, projectWith } from "../support/database/rows.ts";
import { onboardingCalls } from "../support/service/onboarding-calls.ts";
import { refusalOf } from "../support/service/service-client.ts";

const PRICE = 20_000n;
const FIRST_PAGE = { pageSize: 0, pageToken: "" };
const database = await openRaceDatabase({ count: 16, because: "16 of the calls run at the same time" });
afterAll(() => database?.close());

describe.skipIf(database === undefined)("a name", () => {
  const db = database!;
  const calls = onboardingCalls(db, { dkgPriceMicroUsd: PRICE });
  const idsOf = async (projectId: string, name?: string) =>
    (await listDWallets(db, { projectId }, { ...FIRST_PAGE, name })).rows.map(({ id }) => id);

  it("makes one dWallet for one charge, even for many callers at once", async () => {
    const projectId = await projectWith(db, 24n * PRICE);
    const key = await calls.registeredKey(projectId);
    const results = await Promise.all(
      Array.from({ length: 24 }, () =>
        refusalOf(calls.createDWallet(projectId, calls.dkgRequest(key, { name: "treasury" }))),
      ),
    );
    expect(results.filter((result) => result === "not refused")).toHaveLength(1);
    expect(results.filter((result) => result === "DWALLET_NAME_TAKEN")).toHaveLength(23);
    expect(await moneyOf(db, projectId)).toEqual({ balance: 23n * PRICE, held: 0n, differences: [] });
    expect(await idsOf(projectId, "treasury")).toEqual(await idsOf(projectId));
    expect(await idsOf(projectId)).toHaveLength(1);
  });

  it("is separate in each project, and lists only that project's dWallet", async () => {
    const projects = await Promise.all([1, 2].map(() => projectWith(db, PRICE)));
    for (const projectId of projects) {
      const key = await calls.registeredKey(projectId);
      await calls.createDWallet(projectId, calls.dkgRequest(key, { name: "treasury" }));
    }
    const [first = [], second = []] = await Promise.all(
      projects.map((projectId) => idsOf(projectId, "treasury")),
    );
    expect([first.length, second.length]).toEqual([1, 1]);
    expect(first).not.toEqual(second);
    expect(await idsOf(projects[0]!, "petty cash")).toEqual([]);
  });

  it.each(["Failed", "NetworkRejectedDKGVerification"] as const)(
    "is free again, for one dWallet, when its dWallet is %s",
    async (to) => {
      const projectId = await projectWith(db, 9n * PRICE);
      const key = await calls.registeredKey(projectId);
      const make = () => calls.createDWallet(projectId, calls.dkgRequest(key, { name: "treasury" }));
      const { id } = await make();
      await failDWallet(db, id, { from: "Submitting", to, reason: "CHAIN_REJECTED" });
      expect(await idsOf(projectId, "treasury")).toEqual([]);
      const again = await Promise.all([1, 2, 3].map(() => refusalOf(make())));
      expect(again.sort()).toEqual(["DWALLET_NAME_TAKEN", "DWALLET_NAME_TAKEN", "not refused"]);
    },
  );

  it("is part of the request: the same session with another name is refused", async () => {
    const projectId = await projectWith(db, 9n * PRICE);
    const key = await calls.registeredKey(projectId);
    const request = calls.dkgRequest(key, { name: "treasury" });
    const { id } = await calls.createDWallet(projectId, request);
    expect((await calls.createDWallet(projectId, request)).id).toBe(id);
    const other = { ...request, name: "petty cash" };
    expect(await refusalOf(calls.createDWallet(projectId, other))).toBe("SESSION_REUSED");
  });
});
