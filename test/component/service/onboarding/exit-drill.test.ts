/** What a project's key can say of the exits of its dWallets, and who sees it. */
import { timestampDate, timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, it } from "vitest";
import { DWallet_State, ExitDrill_Outcome, Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import {
  createOnboardingService,
  type OnboardingServiceDeps,
} from "../../../../src/service/onboarding/onboarding-service.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { changedRows } from "../../../support/database/changed-rows.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { dwalletOf, projectWith, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

const { could_leave, refused } = ExitDrill_Outcome;
const HOUR_MS = 3_600_000;

let database: Database;
beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());

/** The calls of a key of a new project with two Active dWallets. */
async function newProject() {
  const projectId = await projectWith(database, 0n);
  const [own, other] = [await dwalletOf(database, projectId), await dwalletOf(database, projectId)];
  // Reports need only the database.
  const service = createOnboardingService({ database } as OnboardingServiceDeps);
  const client = clientOf(Onboarding, service, () => ({
    ...{ kind: "project", projectId, apiKeyId: "key", network: "localnet", scopes: ["sign"] },
    origin: TEST_ORIGIN,
  }));
  const report = async (dwalletId: string, outcome: ExitDrill_Outcome, at: Date) => {
    const { exitDrill } = await client.reportExitDrill({
      dwalletId,
      outcome,
      checkTime: timestampFromDate(at),
    });
    return exitDrill && { outcome: exitDrill.outcome, at: timestampDate(exitDrill.checkTime!) };
  };
  return { own, other, client, report };
}

const changes = (action: () => Promise<unknown>) =>
  changedRows(database, ["dwallet", "audit_event", "event", "chain_operation"], action);

it("a report is stored with its dWallet alone, shown by GetDWallet and ListDWallets, and decides nothing", async () => {
  const { own, other, client, report } = await newProject();
  const at = new Date(Date.now() - HOUR_MS);
  expect((await client.getDWallet({ dwalletId: own.objectId })).exitDrill).toBeUndefined();
  expect(await changes(() => report(own.objectId, refused, at))).toEqual({
    dwallet: { [own.rowId]: ["exit_drill_at", "exit_drill_outcome"] },
    audit_event: expect.anything(),
  });
  const exitDrill = { outcome: refused, checkTime: timestampFromDate(at) };
  const read = await client.getDWallet({ dwalletId: own.objectId });
  expect(read).toMatchObject({ exitDrill, state: DWallet_State.Active });
  const { dwallets } = await client.listDWallets({});
  expect(dwallets.map((each) => [each.dwalletId, each.exitDrill?.outcome])).toEqual([
    [other.objectId, undefined],
    [own.objectId, refused],
  ]);
});

it("an older or repeated report changes nothing, and a newer one replaces the last", async () => {
  const { own, report } = await newProject();
  const at = new Date(Date.now() - HOUR_MS);
  const stored = { outcome: could_leave, at };
  expect(await report(own.objectId, could_leave, at)).toEqual(stored);
  for (const [outcome, offsetMs] of [
    [could_leave, 0],
    [refused, 0],
    [refused, -1],
  ] as const)
    expect(
      await changes(async () =>
        expect(await report(own.objectId, outcome, new Date(at.getTime() + offsetMs))).toEqual(stored),
      ),
    ).toEqual({});
  const later = new Date(at.getTime() + 1);
  expect(await report(own.objectId, refused, later)).toEqual({ outcome: refused, at: later });
});

it("a time ahead by a clock's error counts as now, so that it does not outlive later reports", async () => {
  const { own, report } = await newProject();
  const ahead = await report(own.objectId, refused, new Date(Date.now() + 200_000));
  expect(ahead!.at.getTime()).toBeLessThanOrEqual(Date.now() + 2_000);
  await database.query(
    "UPDATE dwallet SET exit_drill_at = exit_drill_at - interval '1 minute' WHERE id = $1",
    [own.rowId],
  );
  expect(await report(own.objectId, could_leave, new Date(ahead!.at.getTime() - 1_000))).toMatchObject({
    outcome: could_leave,
  });
});

it("a report of another project's dWallet, with a time in the future or without an outcome is refused, and changes nothing", async () => {
  const { own, client } = await newProject();
  const stranger = (await newProject()).client;
  const good = { dwalletId: own.objectId, outcome: refused, checkTime: timestampFromMs(Date.now()) };
  const refusals = [
    [stranger, good, "DWALLET_NOT_FOUND"],
    [client, { ...good, checkTime: timestampFromMs(Date.now() + HOUR_MS) }, "VALIDATION"],
    [client, { ...good, checkTime: timestampFromMs(-1) }, "VALIDATION"],
    [client, { ...good, checkTime: timestampFromMs(253_370_764_800_000) }, "VALIDATION"],
    [client, { ...good, checkTime: undefined }, "VALIDATION"],
    [client, { ...good, outcome: ExitDrill_Outcome.OUTCOME_UNSPECIFIED }, "VALIDATION"],
    [client, { ...good, outcome: 3 as ExitDrill_Outcome }, "VALIDATION"],
  ] as const;
  const changed = await changes(async () => {
    for (const [caller, { checkTime, ...rest }, reason] of refusals) {
      const request = checkTime === undefined ? rest : { ...rest, checkTime };
      expect(await refusalOf(caller.reportExitDrill(request))).toBe(reason);
    }
  });
  expect(changed).toEqual({});
  await expect(
    client.reportExitDrill({ ...good, checkTime: timestampFromMs(Date.now() + HOUR_MS) }),
  ).rejects.toThrow(/check_time/);
});
