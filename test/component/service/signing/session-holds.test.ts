/** Halves that the session of a user gives, and that another session releases or cancels: whose they are, and how many. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Allowance } from "../../../../src/service/access/allowances/allowance.ts";
import type { SessionScope } from "../../../../src/service/access/caller.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { cancelSign, releaseSign } from "../../../../src/service/signing/holds/release.ts";
import { HOLDS_OF_USER_MAX_COUNT } from "../../../../src/service/signing/holds/submit-hold.ts";
import { holdSteps, type KeyCaller } from "../../../support/crypto/hold-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { recipientOf, sharedWith } from "../../../support/database/shares.ts";

const signals = createLocalSignals();
let database: Database;
let steps: ReturnType<typeof holdSteps>;
let projectId: string;
let dwallet: TestDWalletRow;

beforeAll(async () => {
  database = await openTestDatabase();
  steps = holdSteps(database, signals);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 10_000n);
  dwallet = await dwalletOf(database, projectId, { userReference: "alice" });
  await readyPresigns(database, dwallet.bucket, 4);
});

const release = (caller: KeyCaller, id: string) => releaseSign({ database, signals }, caller, id);
const cancel = (caller: KeyCaller, id: string) => cancelSign({ database, signals }, caller, id);

describe("a half that a session gives", () => {
  it("is released by another session of its user, and not once the session that gave it is revoked", async () => {
    const page = await sessionOf("alice", ["propose", "read"]);
    const device = await sessionOf("alice", ["release", "read"]);
    const [first, second] = [await steps.held(page, dwallet), await steps.held(page, dwallet)];
    expect((await release(device, first)).holdState).toBe("released");
    await database.query("UPDATE session SET revoked_at = now() WHERE id = $1", [page.apiKeyId]);
    await expect(release(device, second)).rejects.toMatchObject({ reason: "WRONG_STATE" });
    expect(await cancel(device, second)).toMatchObject({ failureReason: "SIGN_CANCELLED" });
  });

  it("is neither released nor cancelled by a session of another user, of other dWallets or of another algorithm", async () => {
    const id = await steps.held(await sessionOf("alice", ["propose"]), dwallet);
    const other = await dwalletOf(database, projectId, { userReference: "alice" });
    const strangers = [
      await sessionOf("mallory", ["release"]),
      await sessionOf("alice", ["release"], { dwalletIds: [other.objectId] }),
    ];
    for (const stranger of strangers) {
      await expect(release(stranger, id)).rejects.toMatchObject({ reason: "SIGN_REQUEST_NOT_FOUND" });
      await expect(cancel(stranger, id)).rejects.toMatchObject({ reason: "SIGN_REQUEST_NOT_FOUND" });
    }
    const narrow = await sessionOf("alice", ["release"], { algorithms: ["EdDSA"] });
    await expect(release(narrow, id)).rejects.toMatchObject({ reason: "ALGORITHM_NOT_ALLOWED" });
  });

  it("is neither released nor cancelled by a holder, unless this holder gave it", async () => {
    await sharedWith(database, dwallet, await recipientOf(database, projectId, "bob"));
    const bob = await sessionOf("bob", ["propose", "release"]);
    const ofAlice = await steps.held(await sessionOf("alice", ["propose"]), dwallet);
    await expect(release(bob, ofAlice)).rejects.toMatchObject({ reason: "OUT_OF_REACH" });
    await expect(cancel(bob, ofAlice)).rejects.toMatchObject({ reason: "OUT_OF_REACH" });
    const [first, second] = [await steps.held(bob, dwallet), await steps.held(bob, dwallet)];
    expect((await release(bob, first)).holdState).toBe("released");
    const alice = await sessionOf("alice", ["release"]);
    expect((await cancel(alice, second)).failureReason).toBe("SIGN_CANCELLED");
  });

  it("is one of a bounded number of its user, which leaves the other users room", async () => {
    const page = await sessionOf("alice", ["propose"]);
    const others = await readyPresigns(database, dwallet.bucket, HOLDS_OF_USER_MAX_COUNT - 1);
    const second = await dwalletOf(database, projectId, { userReference: "alice" });
    const ofBob = await dwalletOf(database, projectId, { userReference: "bob" });
    await readyPresigns(database, second.bucket, 1);
    await readyPresigns(database, ofBob.bucket, 1);
    // Copies of one held half, with a presign each, on as many of her dWallets as it takes.
    await database.query(
      `INSERT INTO sign_request SELECT c.* FROM sign_request r, presign p, jsonb_populate_record(r, jsonb_build_object(
         'id', p.id, 'presign_id', p.id, 'idempotency_key', NULL)) c
       WHERE r.id = $1 AND p.presign_id = ANY($2)`,
      [await steps.held(page, dwallet), others],
    );
    await database.query("UPDATE presign SET state = 'used' WHERE presign_id = ANY($1)", [others]);
    const more = await steps.reserve(page, second);
    await expect(steps.submit(page, more)).rejects.toMatchObject({
      reason: "TOO_MANY_RESERVATIONS",
      metadata: { maxCount: String(HOLDS_OF_USER_MAX_COUNT) },
    });
    const bob = await sessionOf("bob", ["propose"]);
    expect((await steps.submit(bob, await steps.reserve(bob, ofBob))).holdState).toBe("sending");
  });
});

/** A caller with a session of a user, which the database knows. */
async function sessionOf(
  user: string,
  scopes: readonly SessionScope[],
  limits: Partial<Pick<Allowance, "dwalletIds" | "algorithms">> = {},
): Promise<KeyCaller> {
  const id = newId();
  await database.query(
    `INSERT INTO session (id, project_id, user_reference, hash, scopes, origins, expires_at)
     VALUES ($1, $2, $3, $4, $5, '{}', now() + interval '1 hour')`,
    [id, projectId, user, Buffer.from(id), scopes],
  );
  const wide = {
    id,
    userReferences: [user],
    dwalletIds: undefined,
    algorithms: undefined,
    budget: undefined,
  };
  const origin = { actor: `session:${id}` };
  return { projectId, network: "localnet", origin, scopes, apiKeyId: id, allowance: { ...wide, ...limits } };
}
