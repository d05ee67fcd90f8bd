import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Users } from "../../../../gen/proto/tss/v1/users_pb.ts";
import { depositAddress } from "../../../../src/service/billing/deposits/deposit-address.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createUsersService } from "../../../../src/service/users/users-service.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { testDeposits } from "../../../support/database/deposits.ts";
import { dwalletOf, projectWith, readyPresigns, TEST_ORIGIN } from "../../../support/database/rows.ts";
import { clientOf, refusalOf } from "../../../support/service/service-client.ts";

const MAX = 400;
const signals = createLocalSignals();
let database: Database;
let projectId: string;
let users: ReturnType<typeof clientOf<typeof Users>>;

beforeAll(async () => {
  database = await openTestDatabase();
  const caller = () => ({
    ...({ kind: "project", network: "localnet", scopes: [], origin: TEST_ORIGIN } as const),
    projectId,
    apiKeyId: "key",
  });
  users = clientOf(
    Users,
    createUsersService({ database, usersMaxCountOf: () => MAX, lookup: { forget() {} } }),
    caller,
  );
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 1_000n);
});

const referencesOf = async (request: object = {}) =>
  (await users.listUsers(request)).users.map(({ reference }) => reference);
const dwalletOfUser = (reference: string, state = "Active") =>
  dwalletOf(database, projectId, { state, userReference: reference });

describe("a user", () => {
  it("is made once, and a repeat returns the same one", async () => {
    const first = await users.createUser({ reference: "alice" });
    expect([first.reference, first.freezeTime]).toEqual(["alice", undefined]);
    expect(await users.createUser({ reference: "alice" })).toEqual(first);
    expect(await users.getUser({ reference: "alice" })).toEqual(first);
    expect(await referencesOf()).toEqual(["alice"]);
  });

  it("has a reference of 1 to 128 printable ASCII characters", async () => {
    for (const reference of ["", "x".repeat(129), "\n", "é", "\x7f"])
      expect(await refusalOf(users.createUser({ reference }))).toBe("VALIDATION");
    for (const reference of ["x".repeat(128), " ", "/?%#", "~"])
      expect((await users.createUser({ reference })).reference).toBe(reference);
  });

  it("exists from the first call that names the reference", async () => {
    const deposits = testDeposits(database, { SUI: "3.5", IKA: "0.02" });
    await depositAddress(deposits, { projectId, reference: "payer" });
    await depositAddress(deposits, { projectId, reference: "" });
    await dwalletOfUser("owner");
    expect(await referencesOf()).toEqual(["owner", "payer"]);
  });

  it("of another project is not found, whatever its state", async () => {
    await users.createUser({ reference: "alice" });
    projectId = await projectWith(database, 0n);
    expect(await referencesOf()).toEqual([]);
    for (const call of [users.getUser, users.freezeUser, users.unfreezeUser, users.deleteUser])
      expect(await refusalOf(call({ reference: "alice" }))).toBe("USER_NOT_FOUND");
  });
});

describe("a list of users", () => {
  it("is in the order of the references' bytes, in pages that neither repeat nor skip", async () => {
    const all = ["B", "a", "a%", "a/1", "a0", "b", "~"];
    for (const reference of [...all].reverse()) await users.createUser({ reference });
    const found: string[] = [];
    let pageToken = "";
    do {
      const page = await users.listUsers({ pageSize: 2, pageToken });
      found.push(...page.users.map(({ reference }) => reference));
      ({ nextPageToken: pageToken } = page);
    } while (pageToken !== "");
    expect(found).toEqual(["B", "a", "a%", "a/1", "a0", "b", "~"]);
    expect(await referencesOf({ referencePrefix: "a" })).toEqual(["a", "a%", "a/1", "a0"]);
    expect(await referencesOf({ referencePrefix: "a%" })).toEqual(["a%"]);
    const { nextPageToken } = await users.listUsers({ pageSize: 1, referencePrefix: "a" });
    expect(await refusalOf(users.listUsers({ pageToken: nextPageToken }))).toBe("VALIDATION");
  });

  it("filters by frozen and not frozen", async () => {
    for (const reference of ["a", "b", "c"]) await users.createUser({ reference });
    await users.freezeUser({ reference: "b" });
    expect(await referencesOf({ frozen: true })).toEqual(["b"]);
    expect(await referencesOf({ frozen: false })).toEqual(["a", "c"]);
    expect(await referencesOf({ frozen: true, referencePrefix: "a" })).toEqual([]);
  });
});

describe("a frozen user", () => {
  it("stays frozen since the first freeze, until it is unfrozen", async () => {
    await users.createUser({ reference: "alice" });
    const first = await users.freezeUser({ reference: "alice" });
    expect(first.freezeTime).toBeDefined();
    expect(await users.freezeUser({ reference: "alice" })).toEqual(first);
    expect((await users.unfreezeUser({ reference: "alice" })).freezeTime).toBeUndefined();
    expect((await users.unfreezeUser({ reference: "alice" })).freezeTime).toBeUndefined();
  });

  it("reserves and submits nothing, and what was submitted before completes", async () => {
    const steps = signSteps(database, signals);
    const dwallet = await dwalletOfUser("alice");
    await readyPresigns(database, dwallet.bucket, 3);
    const [submitted, prepared] = [
      await steps.reserve(projectId, dwallet),
      await steps.reserve(projectId, dwallet),
    ];
    await steps.submit(projectId, submitted);
    await users.freezeUser({ reference: "alice" });
    expect(await refusalOf(steps.submit(projectId, prepared))).toBe("USER_FROZEN");
    expect(await refusalOf(steps.reserve(projectId, dwallet))).toBe("USER_FROZEN");
    // A repeat of a submission that came first shows the request.
    expect((await steps.submit(projectId, submitted)).status).toBe("queued");
    await steps.land(submitted);
    await steps.complete(submitted, dwallet);
    await users.unfreezeUser({ reference: "alice" });
    expect((await steps.submit(projectId, prepared)).status).toBe("queued");
  });

  it("excuses no reservation that lapses, so a project cannot hold presigns by freezing users", async () => {
    const steps = signSteps(database, signals);
    const dwallet = await dwalletOfUser("alice");
    await readyPresigns(database, dwallet.bucket, 1);
    const reservation = await steps.reserve(projectId, dwallet);
    const lapses = async () =>
      (
        await database.query<{ count: number }>(
          "SELECT lapsed_reservations AS count FROM project WHERE id = $1",
          [projectId],
        )
      )[0]?.count;
    await users.freezeUser({ reference: "alice" });
    await steps.expire(reservation);
    expect(await lapses()).toBe(1);
  });
});

describe("a deleted user", () => {
  it("is refused while a dWallet is in the service, and accepted once all have left or failed", async () => {
    const { rowId } = await dwalletOfUser("alice");
    for (const state of ["Submitting", "AwaitingKeyHolderSignature", "Active", "Leaving"]) {
      await database.query("UPDATE dwallet SET state = $2 WHERE id = $1", [rowId, state]);
      expect(await refusalOf(users.deleteUser({ reference: "alice" }))).toBe("WRONG_STATE");
    }
    await dwalletOfUser("alice", "Failed");
    await dwalletOfUser("alice", "NetworkRejectedDKGVerification");
    await database.query("UPDATE dwallet SET state = 'Left' WHERE id = $1", [rowId]);
    await users.deleteUser({ reference: "alice" });
    // A repeat changes nothing.
    await users.deleteUser({ reference: "alice" });
    expect(await referencesOf()).toEqual([]);
    expect(await refusalOf(users.getUser({ reference: "alice" }))).toBe("USER_NOT_FOUND");
    expect(await refusalOf(users.freezeUser({ reference: "alice" }))).toBe("USER_NOT_FOUND");
  });

  it("keeps its reference for good, so nobody takes it over", async () => {
    await users.createUser({ reference: "alice" });
    await users.deleteUser({ reference: "alice" });
    expect(await refusalOf(users.createUser({ reference: "alice" }))).toBe("USER_DELETED");
    const deposits = testDeposits(database, { SUI: "3.5", IKA: "0.02" });
    const paying = depositAddress(deposits, { projectId, reference: "alice" });
    expect(await refusalOf(paying)).toBe("USER_DELETED");
    expect(await refusalOf(dwalletOfUser("alice"))).toBe("USER_DELETED");
  });

  it("keeps its deposit address, which still credits the project", async () => {
    const deposits = testDeposits(database, { SUI: "3.5", IKA: "0.02" });
    const owner = { projectId, reference: "payer" };
    const address = await depositAddress(deposits, owner);
    await users.deleteUser({ reference: "payer" });
    expect(await depositAddress(deposits, owner)).toBe(address);
  });

  it("leaves no trace of whose encryption keys were", async () => {
    await dwalletOfUser("alice", "Left");
    await users.deleteUser({ reference: "alice" });
    expect(
      await database.query("SELECT 1 FROM encryption_key_user WHERE project_id = $1", [projectId]),
    ).toEqual([]);
  });
});
