import { bytesToHex } from "@noble/hashes/utils.js";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { equalBytes } from "../../../../src/protocol/bytes.ts";
import { sessionIdentifierPreimage } from "../../../../src/protocol/chain/session-identifier.ts";
import type { LandedTransaction } from "../../../../src/service/chain/operation.ts";
import type { ChainCalls } from "../../../../src/service/chain/treasury/treasury-calls.ts";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../../src/service/presigns/presign-queue.ts";
import { expireReservations } from "../../../../src/service/signing/loops/expire-loop.ts";
import { type ReserveInput, reserve } from "../../../../src/service/signing/reserve.ts";
import { readShownSignRequest } from "../../../../src/service/signing/shown-sign-request.ts";
import { createSignOperation } from "../../../../src/service/signing/sign-operation.ts";
import { readSignRequest } from "../../../../src/service/signing/sign-request.ts";
import { createSignSession } from "../../../../src/service/signing/sign-session.ts";
import { submit } from "../../../../src/service/signing/submit.ts";
import { signRequested, signSession, type TestSessionState } from "../../../support/chain/chain-bytes.ts";
import { checkHalfInline, inlineVerifier } from "../../../support/crypto/inline-verifier.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import { flatPrices } from "../../../support/database/prices.ts";
import {
  chainSignature,
  dwalletOf,
  keyed,
  layoutOfSignMessage,
  moneyOf,
  NO_ROW,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";

const PRICE = 10n;
const message = new TextEncoder().encode("message");
const signals = createLocalSignals();
const presigns = createPresignQueue({ clock: systemClock, signals, pollMs: 5 });
/** The transactions that requested sessions, by the hex of the preimage. */
const requests = new Map<string, LandedTransaction>();
const senderAddress = objectId();
const operation = createSignOperation({
  signals,
  senderAddress,
  reader: { sessionRequest: async (preimage) => requests.get(bytesToHex(preimage)) },
  batchCount: 10,
  refundsPerDay: 20,
});
const session = createSignSession({
  network: "localnet",
  refundsPerDay: 20,
  verifier: inlineVerifier,
  signals,
});
let database: Database;
let projectId: string;
let dwallet: TestDWalletRow;
let presignIds: string[];

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 3n * PRICE);
  dwallet = await dwalletOf(database, projectId);
  presignIds = await readyPresigns(database, dwallet.bucket, 4);
});

const caller = (project = projectId) => ({ projectId: project, network: "localnet", origin: TEST_ORIGIN });
const deps = (more: { reservationTtlMs?: number } = {}) => ({
  database,
  signals,
  presigns,
  checkHalf: checkHalfInline,
  prices: flatPrices(PRICE),
  reservationTtlMs: 60_000,
  openMaxCount: 100,
  ...more,
});
const time = (timeoutMs = 30_000) => ({ timeoutMs, signal: new AbortController().signal });
const input = (more: Partial<ReserveInput> = {}): ReserveInput => ({
  dwalletId: dwallet.objectId,
  triple: TEST_TRIPLE,
  message,
  idempotency: undefined,
  ...more,
});
const reserveOne = (more: Partial<ReserveInput> = {}) => reserve(deps(), caller(), input(more), time());
const submitOne = (signRequestId: string, userSignMessage = layoutOfSignMessage()) =>
  submit(deps(), caller(), { signRequestId, userSignMessage });
const read = async (id: string) => (await readSignRequest(database, { id }))!;
const presignStates = async () => {
  const rows = await database.query<{ id: string; state: string }>(
    "SELECT presign_id AS id, state FROM presign WHERE network_encryption_key_id = $1",
    [dwallet.bucket.networkEncryptionKeyId],
  );
  return presignIds.map((id) => rows.find((row) => row.id === id)?.state);
};
const money = () => moneyOf(database, projectId);

describe("a request that the chain already has", () => {
  it("continues with its session on the chain", async () => {
    const { id } = await queued();
    const subject = (await operation.load(database, [id])).get(id)!;
    const refusal = { reason: "CHAIN_REJECTED", message: "abort 3 in sessions_manager" };
    expect(await operation.adopt(database, subject, refusal)).toBe(false);
    expect((await read(id)).status).toBe("queued");

    let sessionBytes = new Uint8Array();
    const calls = {
      paySign: (call: { sessionBytes: Uint8Array<ArrayBuffer> }) => (sessionBytes = call.sessionBytes),
    };
    operation.add(calls as unknown as ChainCalls, [subject]);
    const signId = objectId();
    const events = [signRequested(subject, signId)];
    requests.set(bytesToHex(sessionIdentifierPreimage(sessionBytes, senderAddress)), {
      digest: "earlier",
      version: 1n,
      events,
    });
    expect(await operation.adopt(database, subject, refusal)).toBe(true);
    expect(await read(id)).toMatchObject({ status: "submitted", txDigest: "earlier", signSessionId: signId });
    expect(await money()).toEqual({ balance: 2n * PRICE, held: 0n, differences: [] });
  });
});

describe("the times of the stages", () => {
  it("are known once a stage is reached, and belong to the newest transaction", async () => {
    const { id } = await reserveOne();
    const times = async () => {
      const row = await readShownSignRequest(database, { id, caller: caller() });
      return [row?.submittedAt, row?.sentAt, row?.landedAt].map((at) => at?.toISOString());
    };
    expect(await times()).toEqual([undefined, undefined, undefined]);
    await submitOne(id);
    const [submitted] = await times();
    expect(submitted).toBe((await read(id)).updatedAt.toISOString());

    const resolve = (digest: string, state: string) =>
      database.query("UPDATE chain_transaction SET state = $2, resolved_at = $3 WHERE digest = $1", [
        ...[digest, state],
        state === "stored" ? null : "2026-03-01T10:00:02Z",
      ]);
    const digest = `stage-${id}`;
    await database.query(
      `INSERT INTO chain_transaction (digest, network, sender, lane, bytes, created_at)
       VALUES ($1, 'localnet', '0x1', $1, '', '2026-03-01T10:00:01Z')`,
      [digest],
    );
    const send = (to: string | null) =>
      database.query("UPDATE chain_operation SET tx_digest = $2 WHERE subject_id = $1", [id, to]);
    await send(digest);
    const sent = "2026-03-01T10:00:01.000Z";
    expect(await times()).toEqual([submitted, sent, undefined]);
    await resolve(digest, "landed");
    expect(await times()).toEqual([submitted, sent, "2026-03-01T10:00:02.000Z"]);
    await resolve(digest, "aborted");
    expect(await times()).toEqual([submitted, sent, undefined]);
    await send(null);
    expect(await times()).toEqual([submitted, undefined, undefined]);
  });
});

describe("a reservation", () => {
  it("takes the oldest presign of the dWallet's bucket and holds the price", async () => {
    const row = await reserveOne();
    expect(row).toMatchObject({ status: "prepared", presignId: presignIds[0], priceMicroUsd: PRICE });
    expect(await presignStates()).toEqual(["held", "ready", "ready", "ready"]);
    expect(await money()).toEqual({ balance: 3n * PRICE, held: PRICE, differences: [] });
  });

  it.each([
    ["network", { network: "testnet" }],
    ["curve", { curve: 1 }],
    ["algorithm", { signatureAlgorithm: 1 }],
    ["network encryption key", { networkEncryptionKeyId: objectId() }],
  ])("takes no presign of another %s, although it is older", async (_, other) => {
    const own = await dwalletOf(database, projectId);
    await readyPresigns(database, { ...own.bucket, ...other }, 1);
    const [right] = await readyPresigns(database, own.bucket, 1);
    expect((await reserveOne({ dwalletId: own.objectId })).presignId).toBe(right);
  });

  it("is refused without a change if the free balance is below the price", async () => {
    for (let i = 0; i < 3; i++) await reserveOne();
    await expect(reserveOne()).rejects.toMatchObject({ reason: "INSUFFICIENT_CREDIT" });
    expect(await presignStates()).toEqual(["held", "held", "held", "ready"]);
    expect(await money()).toEqual({ balance: 3n * PRICE, held: 3n * PRICE, differences: [] });
  });

  it("waits for a presign until its deadline, and then gives a retry hint", async () => {
    await database.query("UPDATE presign SET state = 'burnt' WHERE network_encryption_key_id = $1", [
      dwallet.bucket.networkEncryptionKeyId,
    ]);
    await expect(reserve(deps(), caller(), input(), time(520))).rejects.toMatchObject({
      reason: "PRESIGN_POOL_EMPTY",
    });
    const waiting = reserveOne();
    const [late] = await readyPresigns(database, dwallet.bucket, 1);
    expect((await waiting).presignId).toBe(late);
  });

  it("is refused for a dWallet of another project or one that is not Active", async () => {
    const other = await projectWith(database, PRICE);
    await expect(reserve(deps(), caller(other), input(), time())).rejects.toMatchObject({
      reason: "DWALLET_NOT_FOUND",
    });
    const early = await dwalletOf(database, projectId, { state: "AwaitingKeyHolderSignature" });
    await expect(reserveOne({ dwalletId: early.objectId })).rejects.toMatchObject({
      reason: "DWALLET_NOT_ACTIVE",
      metadata: { state: "AwaitingKeyHolderSignature" },
    });
  });

  it("is refused for another curve's algorithm or a message of 16,382 bytes", async () => {
    const eddsa = { ...TEST_TRIPLE, signatureAlgorithm: "EdDSA", curveNumber: 2 } as const;
    await expect(reserveOne({ triple: eddsa })).rejects.toMatchObject({ reason: "UNSUPPORTED_ALGORITHM" });
    await expect(reserveOne({ message: new Uint8Array(16_382) })).rejects.toMatchObject({
      reason: "MESSAGE_TOO_LARGE",
    });
    expect((await reserveOne({ message: new Uint8Array(16_381) })).status).toBe("prepared");
  });

  it("is the same for the same idempotency key, and shows its current state", async () => {
    const first = await reserveOne({ idempotency: keyed("k") });
    expect(await reserveOne({ idempotency: keyed("k") })).toMatchObject({ id: first.id, status: "prepared" });
    await submitOne(first.id);
    expect(await reserveOne({ idempotency: keyed("k") })).toMatchObject({ id: first.id, status: "queued" });
    await expect(reserveOne({ idempotency: keyed("k", 1) })).rejects.toMatchObject({
      reason: "IDEMPOTENCY_KEY_REUSED",
    });
    expect((await reserveOne({ idempotency: keyed("other") })).id).not.toBe(first.id);
  });

  it("expires: the hold is released, and the presign returns to the end of its bucket's queue", async () => {
    const { id } = await reserveOne();
    await expireNow(id);
    await expect(submitOne(id)).rejects.toMatchObject({
      reason: "WRONG_STATE",
      metadata: { status: "prepared" },
    });
    expect(await expireReservations(database, signals, 10)).toEqual(["localnet"]);
    expect(await read(id)).toMatchObject({
      status: "failed",
      failureReason: "RESERVATION_EXPIRED",
      refunded: false,
    });
    await expect(submitOne(id)).rejects.toMatchObject({
      reason: "WRONG_STATE",
      metadata: { status: "failed" },
    });
    expect(await money()).toEqual({ balance: 3n * PRICE, held: 0n, differences: [] });
    expect(await presignStates()).toEqual(Array(4).fill("ready"));
    expect((await reserveOne()).presignId).toBe(presignIds[1]);
  });
});

describe("a submit", () => {
  it("charges the held price once, and queues one operation", async () => {
    const { id } = await reserveOne();
    expect(await submitOne(id)).toMatchObject({ status: "queued" });
    expect(await submitOne(id, Uint8Array.of(1))).toMatchObject({ status: "queued" });
    expect(await money()).toEqual({ balance: 2n * PRICE, held: 0n, differences: [] });
    const operations = await database.query(
      "SELECT kind, priority FROM chain_operation WHERE subject_id = $1",
      [id],
    );
    expect(operations).toEqual([{ kind: "sign", priority: 10 }]);
  });

  it("charges the held price, whatever the price is now", async () => {
    const { id } = await reserveOne();
    await submit({ ...deps(), prices: flatPrices(1_000n) } as never, caller(), {
      signRequestId: id,
      userSignMessage: layoutOfSignMessage(),
    });
    expect(await money()).toMatchObject({ balance: 2n * PRICE, differences: [] });
  });

  it("is refused before money moves if the message does not have its algorithm's layout", async () => {
    const { id } = await reserveOne();
    await expect(submitOne(id, Uint8Array.of(0, 1, 2))).rejects.toMatchObject({
      reason: "MALFORMED_SIGN_MESSAGE",
    });
    expect(await money()).toEqual({ balance: 3n * PRICE, held: PRICE, differences: [] });
    expect((await submitOne(id)).status).toBe("queued");
  });

  it("is refused for every project except the one that reserved", async () => {
    const { id } = await reserveOne();
    const other = await projectWith(database, 0n);
    await expect(
      submit(deps(), caller(other), { signRequestId: id, userSignMessage: layoutOfSignMessage() }),
    ).rejects.toMatchObject({ reason: "SIGN_REQUEST_NOT_FOUND" });
  });

  it("is audited, like its reservation", async () => {
    const { id } = await reserveOne();
    await submitOne(id);
    const events = await database.query(
      "SELECT action, actor FROM audit_event WHERE subject = $1 ORDER BY id",
      [id],
    );
    expect(events).toEqual([
      { action: "sign.reserve", actor: "system" },
      { action: "sign.submit", actor: "system" },
    ]);
  });
});

describe("a queued signature", () => {
  it("is requested with its presign, its message and session bytes that depend only on its id", async () => {
    const { id } = await queued();
    const calls: Parameters<ChainCalls["paySign"]>[0][] = [];
    const add = async () => {
      const subjects = await operation.load(database, [id]);
      expect(operation.sizeBytes(subjects.get(id)!)).toBeGreaterThan(message.length + 7144);
      operation.add(
        { paySign: (call: (typeof calls)[number]) => calls.push(call) } as unknown as ChainCalls,
        [...subjects.values()],
      );
    };
    await add();
    await add();
    const [first, second] = calls;
    expect(first).toMatchObject({
      dwalletId: dwallet.objectId,
      presignId: presignIds[0],
      curve: 0,
      signatureAlgorithm: 0,
      hashScheme: 1,
      message,
      userSignMessage: layoutOfSignMessage(),
    });
    expect(first?.sessionBytes).toHaveLength(32);
    expect(second).toEqual(first);
    expect(new TextDecoder().decode(first?.requestReference)).toBe(id);
  });

  it("is submitted once its transaction landed, and its presign is used", async () => {
    const { id, signId } = await submitted();
    expect(await read(id)).toMatchObject({ status: "submitted", txDigest: "digest", signSessionId: signId });
    expect(await presignStates()).toEqual(["used", "ready", "ready", "ready"]);
  });

  it("fails if it can never land, is refunded once, and its presign is burnt", async () => {
    const { id } = await queued();
    const subject = (await operation.load(database, [id])).get(id)!;
    const failure = { reason: "CHAIN_REJECTED", message: "the chain said no" };
    await operation.failed(database, subject, failure);
    await operation.failed(database, subject, failure);
    expect(await read(id)).toMatchObject({
      status: "failed",
      failureReason: "CHAIN_REJECTED",
      refunded: true,
    });
    expect(await money()).toEqual({ balance: 3n * PRICE, held: 0n, differences: [] });
    expect(await presignStates()).toEqual(["burnt", "ready", "ready", "ready"]);
    expect((await submitOne(id)).status).toBe("failed");
  });
});

describe("a submitted signature", () => {
  it("is open until the network answers", async () => {
    const { id, signId } = await submitted();
    expect(await session.open(database, { after: NO_ROW, limit: 1_000 })).toContainEqual({
      subjectId: id,
      objectId: signId,
    });
    expect(await settle(id, signId, { Requested: true })).toBe(false);
  });

  it("is completed with r, s and v once it verifies", async () => {
    const { id, signId } = await submitted();
    const onChain = chainSignature(dwallet, message);
    expect(await settle(id, signId, { Completed: onChain })).toBe(true);
    const row = await read(id);
    expect(row.status).toBe("completed");
    expect(equalBytes(row.signature!, Uint8Array.of(...onChain.subarray(1), onChain[0]!))).toBe(true);
    expect(await money()).toEqual({ balance: 2n * PRICE, held: 0n, differences: [] });
    expect(await session.open(database, { after: NO_ROW, limit: 1_000 })).not.toContainEqual({
      subjectId: id,
      objectId: signId,
    });
  });

  it("is refunded once if the network rejects it, and its presign stays used", async () => {
    const { id, signId } = await submitted();
    await settle(id, signId, { NetworkRejected: true });
    await settle(id, signId, { NetworkRejected: true });
    expect(await read(id)).toMatchObject({
      status: "failed",
      failureReason: "NETWORK_REJECTED",
      refunded: true,
    });
    expect(await money()).toEqual({ balance: 3n * PRICE, held: 0n, differences: [] });
    expect(await presignStates()).toEqual(["used", "ready", "ready", "ready"]);
  });

  it("stays completed, whatever happens later", async () => {
    const { id, signId } = await submitted();
    await settle(id, signId, { Completed: chainSignature(dwallet, message) });
    await settle(id, signId, { NetworkRejected: true });
    await expect(settle(id, signId, { Completed: new Uint8Array(65) })).rejects.toThrow(/does not verify/);
    expect((await read(id)).status).toBe("completed");
    expect(await money()).toEqual({ balance: 2n * PRICE, held: 0n, differences: [] });
  });
});

async function expireNow(id: string): Promise<void> {
  await database.query("UPDATE sign_request SET expires_at = now() WHERE id = $1", [id]);
}

async function queued(): Promise<{ id: string }> {
  const { id } = await reserveOne();
  await submitOne(id);
  return { id };
}

async function submitted(): Promise<{ id: string; signId: string }> {
  const { id } = await queued();
  const signId = objectId();
  const subject = (await operation.load(database, [id])).get(id)!;
  const events = [
    signRequested({ ...subject, presignId: objectId() }, objectId()),
    signRequested(subject, signId),
  ];
  await operation.landed(database, [subject], { digest: "digest", version: 1n, events });
  return { id, signId };
}

function settle(id: string, signId: string, state: TestSessionState): Promise<boolean> {
  return session.settle(
    database,
    { subjectId: id, objectId: signId },
    signSession(signId, dwallet.objectId, state),
  );
}
