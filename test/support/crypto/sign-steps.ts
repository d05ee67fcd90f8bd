import type { Allowance } from "../../../src/service/access/allowances/allowance.ts";
import type { Signals } from "../../../src/service/platform/coordination/signals.ts";
import { systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../src/service/presigns/presign-queue.ts";
import { expireReservations } from "../../../src/service/signing/loops/expire-loop.ts";
import { reserve } from "../../../src/service/signing/reserve.ts";
import { createSignOperation, type SignObserver } from "../../../src/service/signing/sign-operation.ts";
import { createSignSession } from "../../../src/service/signing/sign-session.ts";
import { submit } from "../../../src/service/signing/submit.ts";
import { signRequested, signSession } from "../chain/chain-bytes.ts";
import { flatPrices } from "../database/prices.ts";
import {
  chainSignature,
  layoutOfSignMessage,
  objectId,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../database/rows.ts";
import { checkHalfInline, inlineVerifier } from "./inline-verifier.ts";

const message = new TextEncoder().encode("message");

/** Moves sign requests with the service's own code, like a process that notifies through these signals. */
export function signSteps(database: Database, signals: Signals, observer?: SignObserver) {
  const deps = {
    database,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    checkHalf: checkHalfInline,
    prices: flatPrices(10n),
    reservationTtlMs: 60_000,
    openMaxCount: 1_000,
  };
  const operation = createSignOperation({
    signals,
    reader: { sessionRequest: async () => undefined },
    senderAddress: objectId(),
    batchCount: 10,
    refundsPerDay: 20,
    observer,
  });
  const session = createSignSession({
    network: "localnet",
    refundsPerDay: 10,
    verifier: inlineVerifier,
    signals,
    observer,
  });
  const subjectOf = async (id: string) => (await operation.load(database, [id])).get(id)!;
  return {
    /** - -> prepared; the dWallet's bucket must have a presign. */
    async reserve(projectId: string, dwallet: TestDWalletRow, allowance?: Allowance): Promise<string> {
      const caller = { projectId, network: "localnet", origin: TEST_ORIGIN, allowance };
      const input = {
        dwalletId: dwallet.objectId,
        triple: TEST_TRIPLE,
        message,
        idempotency: undefined,
      };
      const time = { timeoutMs: 30_000, signal: new AbortController().signal };
      return (await reserve(deps, caller, input, time)).id;
    },
    /** prepared -> queued. */
    submit(projectId: string, signRequestId: string) {
      const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
      return submit(deps, caller, { signRequestId, userSignMessage: layoutOfSignMessage() });
    },
    /** prepared -> failed. */
    async expire(id: string): Promise<void> {
      await database.query("UPDATE sign_request SET expires_at = now() - interval '1 second' WHERE id = $1", [
        id,
      ]);
      await expireReservations(database, signals, 1_000);
    },
    /** queued -> submitted, as the submitter does it. */
    async land(id: string): Promise<void> {
      await database.transaction(async (db) => {
        const subject = (await operation.load(db, [id])).get(id)!;
        const events = [signRequested(subject, objectId())];
        await operation.landed(db, [subject], { digest: "digest", version: 1n, events });
      });
      operation.ended?.(id);
    },
    /** queued -> failed, as the submitter does it. */
    async refuse(id: string): Promise<void> {
      const subject = await subjectOf(id);
      await operation.failed(database, subject, { reason: "CHAIN_REJECTED", message: "the chain said no" });
      operation.ended?.(id);
    },
    /** submitted -> completed. */
    async complete(id: string, dwallet: TestDWalletRow): Promise<void> {
      const signId = objectId();
      const content = signSession(signId, dwallet.objectId, { Completed: chainSignature(dwallet, message) });
      await session.settle(database, { subjectId: id, objectId: signId }, content);
    },
    /** submitted -> failed. */
    async reject(id: string): Promise<void> {
      const signId = objectId();
      const { dwalletId } = await subjectOf(id);
      const content = signSession(signId, dwalletId, { NetworkRejected: true });
      await session.settle(database, { subjectId: id, objectId: signId }, content);
    },
  };
}
