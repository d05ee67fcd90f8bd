/** Answers of the fullnode that belong to another request change neither a request nor its money. */
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../../../src/service/platform/coordination/local-coordination.ts";
import type { Database } from "../../../../src/service/platform/store/database.ts";
import { createSignOperation } from "../../../../src/service/signing/sign-operation.ts";
import { readSignRequest } from "../../../../src/service/signing/sign-request.ts";
import { createSignSession } from "../../../../src/service/signing/sign-session.ts";
import { signRequested, signSession, type TestSessionState } from "../../../support/chain/chain-bytes.ts";
import { inlineVerifier } from "../../../support/crypto/inline-verifier.ts";
import { signSteps } from "../../../support/crypto/sign-steps.ts";
import { DATABASE_TIMEOUT_MS, openTestDatabase } from "../../../support/database/database.ts";
import {
  chainSignature,
  dwalletOf,
  moneyOf,
  objectId,
  projectWith,
  readyPresigns,
  type TestDWalletRow,
} from "../../../support/database/rows.ts";

/** The message and the price of the steps' signatures. */
const message = new TextEncoder().encode("message");
const PRICE = 10n;
const signals = createLocalSignals();
const operation = createSignOperation({
  signals,
  senderAddress: objectId(),
  reader: { sessionRequest: async () => undefined },
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

beforeAll(async () => {
  database = await openTestDatabase();
}, DATABASE_TIMEOUT_MS);
afterAll(() => database.close());
beforeEach(async () => {
  projectId = await projectWith(database, 3n * PRICE);
  dwallet = await dwalletOf(database, projectId);
  await readyPresigns(database, dwallet.bucket, 1);
});

const read = async (id: string) => (await readSignRequest(database, { id }))!;
const money = () => moneyOf(database, projectId);

describe("a queued signature", () => {
  it.each([
    ["dWallet", { dwalletId: objectId() }],
    ["message", { message: Uint8Array.of(9) }],
    ["half", { userSignMessage: Uint8Array.of(9) }],
    ["algorithm", { signatureAlgorithm: 1 }],
    ["presign", { presignId: objectId() }],
  ])("stays queued if the transaction signed with another %s", async (_, other) => {
    const { id } = await queued();
    const subject = (await operation.load(database, [id])).get(id)!;
    const events = [signRequested({ ...subject, ...other }, objectId())];
    await expect(
      operation.landed(database, [subject], { digest: "digest", version: 1n, events }),
    ).rejects.toMatchObject({
      name: "MixedUpAnswerError",
    });
    expect(await read(id)).toMatchObject({ status: "queued", signSessionId: null });
  });

  it("that failed is not changed, nor is the money, by a transaction that landed later", async () => {
    const { id } = await queued();
    const subject = (await operation.load(database, [id])).get(id)!;
    await operation.failed(database, subject, { reason: "CHAIN_REJECTED", message: "the chain said no" });
    await operation.landed(database, [subject], {
      digest: "late",
      version: 1n,
      events: [signRequested(subject, objectId())],
    });
    expect(await read(id)).toMatchObject({ status: "failed", txDigest: null, signSessionId: null });
    expect(await money()).toEqual({ balance: 3n * PRICE, held: 0n, differences: [] });
  });
});

describe("a submitted signature", () => {
  it.each([
    ["of another message", () => chainSignature(dwallet, Uint8Array.of(1))],
    ["with another recovery id", () => withFirstByte(chainSignature(dwallet, message), (v) => v ^ 1)],
    ["of another length", () => chainSignature(dwallet, message).subarray(0, 64)],
  ])(
    "is neither delivered nor refunded for a signature %s, and the right one completes it",
    async (_, forge) => {
      const { id, signId } = await submitted();
      await expect(settle(id, signId, { Completed: forge() })).rejects.toMatchObject({
        name: "MixedUpAnswerError",
        read: "signature",
      });
      await expectOpen(id);
      await settle(id, signId, { Completed: chainSignature(dwallet, message) });
      expect((await read(id)).status).toBe("completed");
    },
  );

  it("fails and is refunded once if no valid signature came in time", async () => {
    const { id, signId } = await submitted();
    const wrong = { Completed: chainSignature(dwallet, Uint8Array.of(1)) };
    await expect(settle(id, signId, wrong)).rejects.toThrow("does not verify");
    await shiftDoubt(id, "9 minutes 59 seconds");
    await expect(settle(id, signId, wrong)).rejects.toThrow("does not verify");
    await expectOpen(id);
    await shiftDoubt(id, "1 second");
    await settle(id, signId, wrong);
    expect(await read(id)).toMatchObject({
      status: "failed",
      failureReason: "SIGNATURE_INVALID",
      refunded: true,
      signature: null,
    });
    expect(await money()).toEqual({ balance: 3n * PRICE, held: 0n, differences: [] });
  });

  it.each([
    ["completed", () => ({ Completed: chainSignature(dwallet, message) })],
    ["rejected", () => ({ NetworkRejected: true as const })],
  ])("is neither completed, failed nor refunded by a foreign %s session", async (_, state) => {
    const { id, signId } = await submitted();
    const open = { subjectId: id, objectId: signId };
    const others = [
      signSession(objectId(), dwallet.objectId, state()),
      signSession(signId, objectId(), state()),
    ];
    for (const content of others) {
      await expect(session.settle(database, open, content)).rejects.toMatchObject({
        name: "MixedUpAnswerError",
        read: "session",
      });
      await expectOpen(id);
    }
  });

  it("that was refunded is not completed by a later signature", async () => {
    const { id, signId } = await submitted();
    await settle(id, signId, { NetworkRejected: true });
    await settle(id, signId, { Completed: chainSignature(dwallet, message) });
    expect(await read(id)).toMatchObject({ status: "failed", refunded: true, signature: null });
    expect(await money()).toEqual({ balance: 3n * PRICE, held: 0n, differences: [] });
  });
});

async function queued(): Promise<{ id: string }> {
  const steps = signSteps(database, signals);
  const id = await steps.reserve(projectId, dwallet);
  await steps.submit(projectId, id);
  return { id };
}

async function submitted(): Promise<{ id: string; signId: string }> {
  const { id } = await queued();
  const signId = objectId();
  const subject = (await operation.load(database, [id])).get(id)!;
  await operation.landed(database, [subject], {
    digest: "digest",
    version: 1n,
    events: [signRequested(subject, signId)],
  });
  return { id, signId };
}

function settle(id: string, signId: string, state: TestSessionState): Promise<boolean> {
  return session.settle(
    database,
    { subjectId: id, objectId: signId },
    signSession(signId, dwallet.objectId, state),
  );
}

/** Moves the time of the first wrong signature into the past. */
async function shiftDoubt(id: string, by: string): Promise<void> {
  await database.query(
    "UPDATE sign_request SET invalid_signature_at = invalid_signature_at - $2::interval WHERE id = $1",
    [id, by],
  );
}

/** Expects a request that was charged and still waits for the network. */
async function expectOpen(id: string): Promise<void> {
  expect(await read(id)).toMatchObject({ status: "submitted", signature: null, refunded: false });
  expect(await money()).toEqual({ balance: 2n * PRICE, held: 0n, differences: [] });
}

function withFirstByte(bytes: Uint8Array, change: (byte: number) => number): Uint8Array {
  return Uint8Array.of(change(bytes[0]!), ...bytes.subarray(1));
}
