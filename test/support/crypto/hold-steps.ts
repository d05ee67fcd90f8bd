import { bytesToHex } from "@noble/hashes/utils.js";
import { sessionIdentifierPreimage } from "../../../src/protocol/chain/session-identifier.ts";
import type { Scope } from "../../../src/service/access/caller.ts";
import { insertApiKey } from "../../../src/service/access/keys/api-keys.ts";
import type { LandedTransaction } from "../../../src/service/chain/operation.ts";
import type { ChainCalls } from "../../../src/service/chain/treasury/treasury-calls.ts";
import type { Signals } from "../../../src/service/platform/coordination/signals.ts";
import { systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import type { Database } from "../../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../../src/service/presigns/presign-queue.ts";
import { createHoldOperation } from "../../../src/service/signing/holds/hold-operation.ts";
import { createHoldSession } from "../../../src/service/signing/holds/hold-session.ts";
import { type ReserveDeps, reserve, type SigningCaller } from "../../../src/service/signing/reserve.ts";
import { createSignOperation } from "../../../src/service/signing/sign-operation.ts";
import { submit } from "../../../src/service/signing/submit.ts";
import { halfContent, halfRequested, signRequested } from "../chain/chain-bytes.ts";
import { flatPrices } from "../database/prices.ts";
import {
  layoutOfSignMessage,
  objectId,
  TEST_ORIGIN,
  TEST_TRIPLE,
  type TestDWalletRow,
} from "../database/rows.ts";
import { checkHalfInline } from "./inline-verifier.ts";

/** What a signature costs, and what its hold costs beside it. */
export const SIGN_PRICE = 10n;
export const HOLD_PRICE = 4n;

/** A caller with a key that the database knows. */
export type KeyCaller = SigningCaller & { readonly scopes: readonly Scope[]; readonly apiKeyId: string };

/** Inserts a key of a project, and returns a caller with it. */
export async function keyCaller(
  database: Database,
  projectId: string,
  scopes: readonly Scope[],
  more: Pick<SigningCaller, "allowance"> = {},
): Promise<KeyCaller> {
  const { id } = await insertApiKey(database, TEST_ORIGIN, { projectId, name: "test", scopes });
  return { projectId, network: "localnet", origin: { actor: `key:${id}` }, scopes, apiKeyId: id, ...more };
}

/** Moves requests with a hold with the service's own code. The chain and the network do what the test says. */
export function holdSteps(database: Database, signals: Signals) {
  const senderAddress = objectId();
  /** The transactions that the chain has, by the hex of the session's preimage. */
  const requests = new Map<string, LandedTransaction>();
  const reader = { sessionRequest: async (preimage: Uint8Array) => requests.get(bytesToHex(preimage)) };
  const options = { signals, reader, senderAddress, refundsPerDay: 20 };
  const hold = createHoldOperation(options);
  const session = createHoldSession({ network: "localnet", refundsPerDay: 20, signals });
  const completion = createSignOperation({ ...options, batchCount: 10, name: "partial_sign" });
  const deps: ReserveDeps & { readonly checkHalf: typeof checkHalfInline } = {
    database,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    checkHalf: checkHalfInline,
    prices: { ...flatPrices(SIGN_PRICE), holdMicroUsd: HOLD_PRICE },
    reservationTtlMs: 60_000,
    openMaxCount: 1_000,
    paysHolds: async () => true,
  };
  const steps = {
    deps,
    hold,
    session,
    async reserve(caller: SigningCaller, dwallet: TestDWalletRow, holdSeconds = 3_600): Promise<string> {
      const input = {
        dwalletId: dwallet.objectId,
        triple: TEST_TRIPLE,
        message: Uint8Array.of(1),
        idempotency: undefined,
        holdSeconds,
      };
      const time = { timeoutMs: 30_000, signal: new AbortController().signal };
      return (await reserve(deps, caller, input, time)).id;
    },
    submit: (caller: SigningCaller, signRequestId: string) =>
      submit(deps, caller, { signRequestId, userSignMessage: layoutOfSignMessage() }),
    subject: async (id: string) => (await hold.load(database, [id])).get(id)!,
    /** The transaction with the half, which the chain then has. */
    async sent(id: string, halfId: string) {
      const subject = await steps.subject(id);
      let sessionBytes = new Uint8Array();
      const calls = {
        payFutureSign: (call: { sessionBytes: Uint8Array<ArrayBuffer> }) =>
          (sessionBytes = call.sessionBytes),
      };
      hold.add(calls as unknown as ChainCalls, [subject]);
      const preimage = sessionIdentifierPreimage(sessionBytes, senderAddress);
      const events = [halfRequested(preimage, subject, halfId)];
      const transaction = { digest: `half ${id}`, version: 1n, events };
      requests.set(bytesToHex(preimage), transaction);
      return transaction;
    },
    /** sending -> verifying. Returns the id of the half's object. */
    async land(id: string): Promise<string> {
      const halfId = objectId();
      await hold.landed(database, [await steps.subject(id)], await steps.sent(id, halfId));
      return halfId;
    },
    /** verifying -> held, or failed. */
    async verify(id: string, halfId: string, kind: "Completed" | "Rejected" = "Completed"): Promise<boolean> {
      const state = { [`NetworkVerification${kind}`]: true } as { NetworkVerificationCompleted: true };
      const content = halfContent({ ...(await steps.subject(id)), halfId }, state);
      return await session.settle(database, { subjectId: id, objectId: halfId }, content);
    },
    /** - -> held. */
    async held(caller: SigningCaller, dwallet: TestDWalletRow, holdSeconds?: number): Promise<string> {
      const id = await steps.reserve(caller, dwallet, holdSeconds);
      await steps.submit(caller, id);
      await steps.verify(id, await steps.land(id));
      return id;
    },
    /** released -> submitted. */
    async complete(id: string): Promise<void> {
      const subject = (await completion.load(database, [id])).get(id)!;
      const events = [signRequested(subject, objectId())];
      await completion.landed(database, [subject], { digest: "signature", version: 1n, events });
    },
  };
  return steps;
}
