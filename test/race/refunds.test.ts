/** Who pays when the network rejects a user's half, or the chain refuses a request, on a real PostgreSQL. */

import { afterAll, describe, expect, it } from "vitest";
import type { AlgorithmTriple } from "../../src/protocol/algorithms.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { createSignOperation } from "../../src/service/signing/sign-operation.ts";
import { createSignSession } from "../../src/service/signing/sign-session.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { signRequested, signSession } from "../support/chain/chain-bytes.ts";
import { checkHalfInline, inlineVerifier } from "../support/crypto/inline-verifier.ts";
import { flipBit, vectorOf } from "../support/crypto/signature-vectors.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { flatPrices } from "../support/database/prices.ts";
import {
  dwalletOf,
  layoutOfSignMessage,
  moneyOf,
  objectId,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../support/database/rows.ts";

const PRICE = 10_000n;
const COUNT = 25;
const REFUNDS_PER_DAY = 20;
const database = await openRaceDatabase({ count: 16, because: "16 of the calls run at the same time" });
afterAll(() => database?.close());

/** A user's half with all its inputs. */
interface Half {
  readonly triple: AlgorithmTriple;
  readonly message: Uint8Array;
  readonly dwalletOutput: Uint8Array;
  readonly presign: Uint8Array;
  readonly userSignMessage: Uint8Array;
}

describe.skipIf(database === undefined)("a request that is rejected", () => {
  const db = database!;
  const signals = createLocalSignals();
  const deps = {
    database: db,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    checkHalf: checkHalfInline,
    prices: flatPrices(PRICE),
    reservationTtlMs: 60_000,
    openMaxCount: 100,
  };
  const operation = createSignOperation({
    signals,
    reader: { sessionRequest: async () => undefined },
    senderAddress: objectId(),
    batchCount: 10,
    refundsPerDay: REFUNDS_PER_DAY,
  });
  const session = createSignSession({
    network: "localnet",
    refundsPerDay: REFUNDS_PER_DAY,
    verifier: inlineVerifier,
    signals,
  });

  it.each(["Taproot", "EdDSA", "Schnorrkel"] as const)(
    "is always refunded, once, for %s, whose halves the service verifies",
    async (algorithm) => {
      const { triple, message, dwalletOutput, presign, userSignMessage } = vectorOf(algorithm);
      const half = {
        triple,
        message,
        dwalletOutput,
        presign: presign!,
        userSignMessage: userSignMessage!,
      };
      const { projectId, requests, submitOne } = await reserveAll(half);
      // The service charges only for a verified half.
      const [first] = requests;
      const forged = flipBit(half.userSignMessage, 8 * (half.userSignMessage.length - 4));
      await expect(submitOne(first!.id, forged)).rejects.toMatchObject({ reason: "MALFORMED_SIGN_MESSAGE" });
      expect(await moneyOf(db, projectId)).toMatchObject({ balance: BigInt(COUNT) * PRICE });

      await rejectAll(requests, submitOne, half.userSignMessage);
      expect(await moneyOf(db, projectId)).toEqual({
        balance: BigInt(COUNT) * PRICE,
        held: 0n,
        differences: [],
      });
    },
  );

  it("is refunded up to the budget for ECDSA, whose proofs only the network verifies", async () => {
    const half = {
      triple: TEST_TRIPLE,
      message: Uint8Array.of(1),
      dwalletOutput: Uint8Array.of(1, 2, 3),
      presign: new Uint8Array(16),
      userSignMessage: layoutOfSignMessage(),
    };
    const { projectId, requests, submitOne } = await reserveAll(half);
    await rejectAll(requests, submitOne, half.userSignMessage);
    expect(await moneyOf(db, projectId)).toEqual({
      balance: BigInt(REFUNDS_PER_DAY) * PRICE,
      held: 0n,
      differences: [],
    });
  });

  it("is refunded up to the budget if the owner has taken the dWallet out of the Treasury", async () => {
    expect(await balanceAfter({ module: "custody", code: 1 })).toBe(BigInt(REFUNDS_PER_DAY) * PRICE);
  });

  it("is always refunded if the chain refuses it for another reason", async () => {
    expect(await balanceAfter({ module: "custody", code: 2 })).toBe(BigInt(COUNT) * PRICE);
  });

  /**
   * Returns the balance after the chain has refused all requests of a project. Their algorithm's halves are verified.
   */
  async function balanceAfter(abort: {
    readonly module: string;
    readonly code: number;
  }): Promise<bigint | undefined> {
    const { triple, message, dwalletOutput, presign, userSignMessage } = vectorOf("EdDSA");
    const half = { triple, message, dwalletOutput, presign: presign!, userSignMessage: userSignMessage! };
    const { projectId, requests, submitOne } = await reserveAll(half);
    // The first failure reveals that the dWallet has left, and from then on nothing is charged.
    for (const { id } of requests) await submitOne(id, half.userSignMessage);
    for (const { id } of requests) {
      const subject = (await operation.load(db, [id])).get(id)!;
      await operation.failed(db, subject, { reason: "CHAIN_ABORT", message: "refused", abort });
    }
    const { balance, held, differences } = await moneyOf(db, projectId);
    expect({ held, differences }).toEqual({ held: 0n, differences: [] });
    return balance;
  }

  async function reserveAll({ triple, message, dwalletOutput, presign }: Half) {
    const projectId = await projectWith(db, BigInt(COUNT) * PRICE);
    const { rowId, objectId: dwalletId, bucket } = await dwalletOf(db, projectId);
    const { curveNumber: curve, signatureAlgorithmNumber: signatureAlgorithm } = triple;
    await db.query("UPDATE dwallet SET curve = $2, public_output = $3 WHERE id = $1", [
      ...[rowId, curve, dwalletOutput],
    ]);
    await readyPresigns(db, { ...bucket, curve, signatureAlgorithm }, COUNT);
    await db.query("UPDATE presign SET presign = $2 WHERE network_encryption_key_id = $1", [
      ...[bucket.networkEncryptionKeyId, presign],
    ]);
    const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
    const input = { dwalletId, triple, message, idempotency: undefined };
    const time = { timeoutMs: 30_000, signal: new AbortController().signal };
    const requests = await Promise.all(
      Array.from({ length: COUNT }, () => reserve(deps, caller, input, time)),
    );
    const submitOne = (signRequestId: string, userSignMessage: Uint8Array) =>
      submit(deps, caller, { signRequestId, userSignMessage });
    return { projectId, requests, submitOne };
  }

  /** Submits all requests. The network rejects each one, and several replicas see each rejection at the same time. */
  async function rejectAll(
    requests: readonly { readonly id: string }[],
    submitOne: (id: string, half: Uint8Array) => Promise<unknown>,
    half: Uint8Array,
  ): Promise<void> {
    await Promise.all(
      requests.map(async ({ id }) => {
        await submitOne(id, half);
        const signId = objectId();
        const subject = (await operation.load(db, [id])).get(id)!;
        const events = [signRequested(subject, signId)];
        await operation.landed(db, [subject], { digest: "digest", version: 1n, events });
        const rejected = signSession(signId, subject.dwalletId, { NetworkRejected: true });
        const settle = () => session.settle(db, { subjectId: id, objectId: signId }, rejected);
        await Promise.all(Array.from({ length: 3 }, settle));
      }),
    );
  }
});
