/** Halves that are given now and released later: their money, their bounds, and who can release them. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { SignRequest_Hold_State as State } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { createHoldCeilings } from "../../../../src/service/chain/treasury/ceilings.ts";
import type { ChainCalls } from "../../../../src/service/chain/treasury/treasury-calls.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { type Database, newId } from "../../../../src/service/platform/store/database.ts";
import { encodeReservation, encodeSignRequest } from "../../../../src/service/signing/encode-sign-request.ts";
import { cancelSign, releaseSign } from "../../../../src/service/signing/holds/release.ts";
import { HOLDS_OF_DWALLET_MAX_COUNT } from "../../../../src/service/signing/holds/submit-hold.ts";
import { endHolds } from "../../../../src/service/signing/loops/hold-loop.ts";
import { requireAlgorithm, reserve } from "../../../../src/service/signing/reserve.ts";
import { readSignRequest } from "../../../../src/service/signing/sign-request.ts";
import { submit } from "../../../../src/service/signing/submit.ts";
import { sweepSessions } from "../../../../src/service/users/session-sweep.ts";
import { halfContent } from "../../../support/chain/chain-bytes.ts";
import {
  HOLD_PRICE,
  holdSteps,
  type KeyCaller,
  keyCaller,
  SIGN_PRICE,
} from "../../../support/crypto/hold-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  moneyOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";
import { recipientOf, sharedWith } from "../../../support/database/shares.ts";

const CREDIT = 1_000n;
const PRICE = SIGN_PRICE + HOLD_PRICE;
const signals = createLocalSignals();
let database: Database;
let steps: ReturnType<typeof holdSteps>;
let projectId: string;
let dwallet: TestDWalletRow;
let signer: KeyCaller;
let approver: KeyCaller;

beforeAll(async () => {
  database = await openTestDatabase();
  steps = holdSteps(database, signals);
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, CREDIT);
  dwallet = await dwalletOf(database, projectId, { userReference: "alice" });
  await readyPresigns(database, dwallet.bucket, 3);
  signer = await keyCaller(database, projectId, ["sign"]);
  approver = await keyCaller(database, projectId, ["release"]);
});

const deps = () => ({ database, signals });
const read = async (id: string) => (await readSignRequest(database, { id }))!;
const balance = async () => {
  const { differences, balance: found, held } = await moneyOf(database, projectId);
  expect({ differences, held }).toEqual({ differences: [], held: 0n });
  return found;
};
const operations = (id: string) =>
  database.query("SELECT kind FROM chain_operation WHERE subject_id = $1 ORDER BY kind", [id]);
const release = (id: string, caller = approver) => releaseSign(deps(), caller, id);
const cancel = (id: string, caller = signer) => cancelSign(deps(), caller, id);
const stateOf = async (id: string) => encodeSignRequest(await read(id)).hold?.state;
const wrongState = (message: string) => ({
  reason: "WRONG_STATE",
  message: expect.stringContaining(message),
});
const endDue = () => endHolds(database, signals, 100);

describe("a half that is held", () => {
  it("is charged once with the price of the hold, verified, released, and becomes one signature", async () => {
    const id = await steps.reserve(signer, dwallet);
    expect(encodeReservation(await read(id)).holdSeconds).toBe(3_600);
    expect(await stateOf(id)).toBe(State.reserved);
    expect((await steps.submit(signer, id)).holdState).toBe("sending");
    expect((await steps.submit(signer, id)).holdState).toBe("sending");
    expect(await balance()).toBe(CREDIT - PRICE);
    expect(await operations(id)).toEqual([{ kind: "future_sign" }]);
    await expect(release(id)).rejects.toMatchObject(wrongState("not verified"));
    await expect(cancel(id)).rejects.toMatchObject(wrongState("not verified"));

    const halfId = await steps.land(id);
    expect(await stateOf(id)).toBe(State.verifying);
    await steps.verify(id, halfId);
    expect(await stateOf(id)).toBe(State.held);
    const events = await database.query("SELECT kind FROM event WHERE subject = $1", [id]);
    expect(events).toEqual([{ kind: "sign.held" }]);

    expect((await release(id)).holdState).toBe("released");
    expect((await release(id)).holdState).toBe("released");
    expect(await operations(id)).toEqual([{ kind: "future_sign" }, { kind: "partial_sign" }]);
    await expect(cancel(id)).rejects.toMatchObject(wrongState("released"));
    await steps.complete(id);
    expect(await read(id)).toMatchObject({
      status: "submitted",
      holdState: "released",
      txDigest: "signature",
    });
    expect(await balance()).toBe(CREDIT - PRICE);
    const audited = await database.query(
      "SELECT action, actor FROM audit_event WHERE subject = $1 ORDER BY id",
      [id],
    );
    expect(audited).toEqual([
      { action: "sign.reserve", actor: signer.origin.actor },
      { action: "sign.submit", actor: signer.origin.actor },
      { action: "sign.release", actor: approver.origin.actor },
    ]);
  });

  it("is refunded without the price of the hold when it is cancelled, once", async () => {
    const id = await steps.held(signer, dwallet);
    const ended = await cancel(id);
    expect(ended).toMatchObject({ status: "failed", failureReason: "SIGN_CANCELLED", refunded: true });
    expect(await stateOf(id)).toBe(State.ended);
    expect((await cancel(id, approver)).failureReason).toBe("SIGN_CANCELLED");
    expect(await balance()).toBe(CREDIT - HOLD_PRICE);
    await expect(release(id)).rejects.toMatchObject(wrongState("ended"));
  });

  it("is refunded without the price of the hold when it expires, and cannot be released from then on", async () => {
    const id = await steps.held(signer, dwallet);
    const later = await steps.held(signer, dwallet);
    await database.query("UPDATE sign_request SET hold_expires_at = now() WHERE id = $1", [id]);
    await expect(release(id)).rejects.toMatchObject(wrongState("expired"));
    await endDue();
    expect(await read(id)).toMatchObject({ status: "failed", failureReason: "HOLD_EXPIRED", refunded: true });
    expect(await stateOf(later)).toBe(State.held);
    expect(await balance()).toBe(CREDIT - PRICE - HOLD_PRICE);
  });

  it("is refunded in full when the network rejects it, or when the chain refuses it", async () => {
    const rejected = await steps.reserve(signer, dwallet);
    await steps.submit(signer, rejected);
    await steps.verify(rejected, await steps.land(rejected), "Rejected");
    expect(await read(rejected)).toMatchObject({ status: "failed", failureReason: "NETWORK_REJECTED" });

    const refused = await steps.reserve(signer, dwallet);
    await steps.submit(signer, refused);
    await steps.hold.failed(database, await steps.subject(refused), {
      reason: "CHAIN_REJECTED",
      message: "no",
    });
    expect(await read(refused)).toMatchObject({ status: "failed", failureReason: "CHAIN_REJECTED" });
    expect(await balance()).toBe(CREDIT);
  });

  it("is not refunded by a late word of a rejection, once it is held or released", async () => {
    const id = await steps.reserve(signer, dwallet);
    await steps.submit(signer, id);
    const halfId = await steps.land(id);
    await steps.verify(id, halfId);
    await steps.verify(id, halfId, "Rejected");
    expect(await stateOf(id)).toBe(State.held);
    await release(id);
    await steps.verify(id, halfId, "Rejected");
    expect(await read(id)).toMatchObject({ status: "queued", holdState: "released" });
    expect(await balance()).toBe(CREDIT - PRICE);
  });

  it("is never completed for another message, dWallet or presign than its own", async () => {
    const id = await steps.reserve(signer, dwallet);
    await steps.submit(signer, id);
    const halfId = await steps.land(id);
    const own = { ...(await steps.subject(id)), halfId };
    for (const other of [
      { ...own, message: Uint8Array.of(2) },
      { ...own, dwalletId: objectId() },
      { ...own, presignId: objectId() },
      { ...own, halfId: objectId() },
    ]) {
      const content = halfContent(other, { NetworkVerificationCompleted: true });
      const settled = steps.session.settle(database, { subjectId: id, objectId: halfId }, content);
      await expect(settled).rejects.toThrow("another request's");
    }
    expect(await stateOf(id)).toBe(State.verifying);
  });

  it("continues with the transaction that the chain already has, and burns its presign in no case", async () => {
    const id = await steps.reserve(signer, dwallet);
    await steps.submit(signer, id);
    const subject = await steps.subject(id);
    const refusal = { reason: "CHAIN_REJECTED", message: "abort 3 in sessions_manager" };
    expect(await steps.hold.adopt(database, subject, refusal)).toBe(false);
    expect(await read(id)).toMatchObject({ status: "queued", holdState: "sending" });
    await steps.sent(id, objectId());
    expect(await steps.hold.adopt(database, subject, refusal)).toBe(true);
    expect(await read(id)).toMatchObject({ holdState: "verifying", holdTxDigest: `half ${id}` });
    const presign = "SELECT state FROM presign WHERE presign_id = $1";
    expect(await database.query(presign, [subject.presignId])).toEqual([{ state: "used" }]);
  });

  it("is kept by the Treasury a day longer than the service holds it, and at most 31 epochs", async () => {
    const epochs: bigint[] = [];
    const calls = { payFutureSign: (call: { epochs: bigint }) => epochs.push(call.epochs) };
    for (const seconds of [60, 86_400, 86_401, 2_592_000])
      steps.hold.add(calls as unknown as ChainCalls, [{ id: newId(), holdSeconds: seconds } as never]);
    expect(epochs).toEqual([2n, 2n, 3n, 31n]);
  });
});

describe("a half whose key or session has only expired", () => {
  /** Halves of a key and of a session, both of which have expired since. */
  async function halvesOfExpired(): Promise<[ofKey: string, ofSession: string]> {
    const sessionId = newId();
    await database.query(
      `INSERT INTO session (id, project_id, user_reference, hash, scopes, origins, api_key_id, expires_at)
       VALUES ($1, $2, 'alice', $3, '{sign}', '{}', $4, now() + interval '1 minute')`,
      [sessionId, projectId, Buffer.from(sessionId), signer.apiKeyId],
    );
    const ofKey = await steps.held(signer, dwallet);
    const ofSession = await steps.held({ ...signer, origin: { actor: `session:${sessionId}` } }, dwallet);
    const past = "SET expires_at = now() - interval '2 days' WHERE id = $1";
    await database.query(`UPDATE api_key ${past}`, [signer.apiKeyId]);
    await database.query(`UPDATE session ${past}`, [sessionId]);
    return [ofKey, ofSession];
  }

  // The sweep of other tests counts what is left.
  afterEach(() => sweepSessions(database, 10));

  it("is released by another key", async () => {
    for (const id of await halvesOfExpired()) expect((await release(id)).holdState).toBe("released");
  });

  it("is cancelled by another key, and refunded without the price of the hold", async () => {
    for (const id of await halvesOfExpired())
      expect(await cancel(id, approver)).toMatchObject({ failureReason: "SIGN_CANCELLED" });
    expect(await balance()).toBe(CREDIT - 2n * HOLD_PRICE);
  });
});

describe("a half is released by nobody", () => {
  it("while its user is frozen", async () => {
    const id = await steps.held(signer, dwallet);
    const freeze = (at: string) =>
      database.query(`UPDATE project_user SET frozen_at = ${at} WHERE project_id = $1`, [projectId]);
    await freeze("now()");
    await expect(release(id)).rejects.toMatchObject({ reason: "USER_FROZEN" });
    await freeze("NULL");
    expect((await release(id)).holdState).toBe("released");
  });

  it("after the key that gave it was revoked", async () => {
    const id = await steps.held(signer, dwallet);
    await database.query("UPDATE api_key SET revoked_at = now() WHERE id = $1", [signer.apiKeyId]);
    await expect(release(id)).rejects.toMatchObject(wrongState("revoked"));
    expect((await cancel(id, approver)).status).toBe("failed");
  });

  it("after the session that gave it was revoked, or the key that made the session", async () => {
    const session = async () => {
      const id = newId();
      await database.query(
        `INSERT INTO session (id, project_id, user_reference, hash, scopes, origins, api_key_id, expires_at)
         VALUES ($1, $2, 'alice', $3, '{sign}', '{}', $4, now())`,
        [id, projectId, Buffer.from(id), signer.apiKeyId],
      );
      return { id, held: await steps.held({ ...signer, origin: { actor: `session:${id}` } }, dwallet) };
    };
    const [live, revoked, orphan] = [await session(), await session(), await session()];
    // A session that only expired has given its half, and is kept until then.
    await database.query("UPDATE session SET expires_at = now() - interval '2 days'");
    expect(await sweepSessions(database, 10)).toBe(0);
    expect((await release(live.held)).holdState).toBe("released");
    expect(await sweepSessions(database, 10)).toBe(1);
    await database.query("UPDATE session SET revoked_at = now() WHERE id = $1", [revoked.id]);
    await expect(release(revoked.held)).rejects.toMatchObject(wrongState("revoked"));
    await database.query("UPDATE api_key SET revoked_at = now() WHERE id = $1", [signer.apiKeyId]);
    await expect(release(orphan.held)).rejects.toMatchObject(wrongState("revoked"));
  });

  it("after the holder that gave it was removed", async () => {
    const bob = await recipientOf(database, projectId, "bob");
    await sharedWith(database, dwallet, bob);
    const allowance = {
      id: newId(),
      userReferences: ["bob"],
      dwalletIds: undefined,
      algorithms: undefined,
      budget: undefined,
    };
    const holder = { ...signer, allowance };
    const [removed, kept] = [await steps.held(holder, dwallet), await steps.held(holder, dwallet)];
    expect((await release(kept)).holdState).toBe("released");
    await database.query("UPDATE dwallet SET holder_users = '{}' WHERE id = $1", [dwallet.rowId]);
    await expect(release(removed)).rejects.toMatchObject(wrongState("removed"));
  });

  it("once its dWallet leaves, and its price is refunded without the price of the hold", async () => {
    const id = await steps.held(signer, dwallet);
    await database.query("UPDATE dwallet SET state = 'Leaving' WHERE id = $1", [dwallet.rowId]);
    await expect(release(id)).rejects.toMatchObject({ reason: "DWALLET_LEFT" });
    await endDue();
    expect(await read(id)).toMatchObject({
      status: "failed",
      failureReason: "DWALLET_LEFT",
      holdState: "ended",
    });
    expect(await balance()).toBe(CREDIT - HOLD_PRICE);
  });

  it("of another project, and cancelled by nobody there", async () => {
    const id = await steps.held(signer, dwallet);
    const stranger = await keyCaller(database, await projectWith(database, 0n), ["sign", "release"]);
    await expect(release(id, stranger)).rejects.toMatchObject({ reason: "SIGN_REQUEST_NOT_FOUND" });
    await expect(cancel(id, stranger)).rejects.toMatchObject({ reason: "SIGN_REQUEST_NOT_FOUND" });
  });

  it("with a key for another algorithm, and cancelled with no key that neither signs nor releases", async () => {
    const id = await steps.held(signer, dwallet);
    const algorithms = ["EdDSA"] as const;
    const narrow = {
      id: newId(),
      userReferences: undefined,
      dwalletIds: undefined,
      algorithms,
      budget: undefined,
    };
    expect(() => requireAlgorithm(narrow, "ECDSASecp256k1")).toThrow("may not sign");
    await expect(release(id, { ...approver, allowance: narrow })).rejects.toMatchObject({
      reason: "ALGORITHM_NOT_ALLOWED",
    });
    const reader = await keyCaller(database, projectId, ["read", "billing"]);
    await expect(cancel(id, reader)).rejects.toMatchObject({ reason: "SCOPE_MISSING" });
  });
});

it("a key that may only propose gives halves with a hold, and no other ones", async () => {
  const proposer = { ...(await keyCaller(database, projectId, ["propose"])), holdsOnly: true };
  const input = {
    dwalletId: dwallet.objectId,
    triple: TEST_TRIPLE,
    message: Uint8Array.of(1),
    idempotency: undefined,
  };
  const time = { timeoutMs: 1_000, signal: new AbortController().signal };
  await expect(reserve(steps.deps, proposer, input, time)).rejects.toMatchObject({ reason: "SCOPE_MISSING" });
  const { id } = await reserve(steps.deps, signer, input, time);
  await expect(steps.submit(proposer, id)).rejects.toMatchObject({ reason: "SCOPE_MISSING" });
  expect((await read(await steps.held(proposer, dwallet))).holdState).toBe("held");
});

describe("the bounds", () => {
  it("let a dWallet have no more held halves than its maximum", async () => {
    const first = await steps.held(signer, dwallet);
    await readyPresigns(database, dwallet.bucket, HOLDS_OF_DWALLET_MAX_COUNT);
    for (let count = 1; count < HOLDS_OF_DWALLET_MAX_COUNT; count++)
      await steps.submit(signer, await steps.reserve(signer, dwallet));
    const more = await steps.reserve(signer, dwallet);
    await expect(steps.submit(signer, more)).rejects.toMatchObject({
      reason: "TOO_MANY_RESERVATIONS",
      metadata: { maxCount: String(HOLDS_OF_DWALLET_MAX_COUNT) },
    });
    await cancel(first);
    expect((await steps.submit(signer, more)).holdState).toBe("sending");
  });

  it("count ended halves that the Treasury still keeps, because it would refuse more and burn their presigns", async () => {
    const submitted = async () => await steps.submit(signer, await steps.reserve(signer, dwallet));
    await readyPresigns(database, dwallet.bucket, 5);
    const signed = await steps.held(signer, dwallet);
    await release(signed);
    await steps.complete(signed);
    const ended = await steps.held(signer, dwallet);
    await cancel(ended);
    // Copies of it. Only this reason lets them share a presign.
    await database.query(
      `INSERT INTO sign_request SELECT c.* FROM sign_request r, generate_series(2, 63) AS copy, jsonb_populate_record(r,
         jsonb_build_object('id', md5(r.id::text || copy)::uuid, 'failure_reason', 'RESERVATION_EXPIRED')) c WHERE r.id = $1`,
      [ended],
    );
    expect((await submitted()).holdState).toBe("sending");
    const full = { reason: "TOO_MANY_RESERVATIONS", metadata: { maxCount: "64" } };
    const more = await steps.reserve(signer, dwallet);
    await expect(steps.submit(signer, more)).rejects.toMatchObject(full);
    // The last epoch of one has passed.
    const past = "UPDATE sign_request SET hold_expires_at = now() - interval '4 days' WHERE id = $1";
    await database.query(past, [ended]);
    expect((await steps.submit(signer, more)).holdState).toBe("sending");
    await expect(submitted()).rejects.toMatchObject(full);
  });

  it("let nobody reserve a hold until the Treasury has both price ceilings", async () => {
    const ceilings: { operation: string; curve: number; signatureAlgorithm: number }[] = [];
    let nowMs = 0;
    const treasury = { ceilings: async () => ceilings as never };
    const paysHolds = createHoldCeilings(treasury, { now: () => nowMs });
    const input = {
      dwalletId: dwallet.objectId,
      triple: TEST_TRIPLE,
      message: Uint8Array.of(1),
      idempotency: undefined,
      holdSeconds: 60,
    };
    const time = { timeoutMs: 1_000, signal: new AbortController().signal };
    const asked = () => reserve({ ...steps.deps, paysHolds }, signer, input, time);
    for (const operation of ["future_sign", "partial_sign"]) {
      await expect(asked()).rejects.toMatchObject({ reason: "CHAIN_REJECTED", message: /^hold_seconds: / });
      ceilings.push({ operation, curve: 0, signatureAlgorithm: 0 });
      nowMs += 60_000;
    }
    expect((await asked()).holdSeconds).toBe(60);
    expect(await moneyOf(database, projectId)).toMatchObject({ held: PRICE, balance: CREDIT });
  });
});

it("a replica that knows no holds cannot submit such a request, which would sign at once", async () => {
  const id = await steps.reserve(signer, dwallet);
  const older = "UPDATE sign_request SET status = 'queued', user_sign_message = '\\x01' WHERE id = $1";
  await expect(database.query(older, [id])).rejects.toThrow("sign_request_hold");
  const half = { signRequestId: id, userSignMessage: layoutOfSignMessage() };
  expect((await submit(steps.deps as never, signer, half)).holdState).toBe("sending");
});
