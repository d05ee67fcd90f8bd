/** Calls that lock a project, its users, their sessions and budgets in one transaction each, all at once, on a real PostgreSQL. */
import { afterAll, expect, it } from "vitest";
import { insertAllowance } from "../../src/service/access/allowances/allowances.ts";
import { SCOPES } from "../../src/service/access/caller.ts";
import { insertApiKey } from "../../src/service/access/keys/api-keys.ts";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { newId } from "../../src/service/platform/store/database.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { expireReservations } from "../../src/service/signing/loops/expire-loop.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { revokeUserSessions } from "../../src/service/users/end-sessions.ts";
import { createSession, createSessionDeps } from "../../src/service/users/sessions.ts";
import { createUser, deleteUser, freezeUser, unfreezeUser } from "../../src/service/users/users.ts";
import { checkHalfInline } from "../support/crypto/inline-verifier.ts";
import { openRaceDatabase } from "../support/database/database.ts";
import { flatPrices } from "../support/database/prices.ts";
import {
  dwalletOf,
  keyed,
  layoutOfSignMessage,
  moneyOf,
  projectWith,
  readyPresigns,
  TEST_ORIGIN,
  TEST_TRIPLE,
} from "../support/database/rows.ts";
import { refusalOf } from "../support/service/service-client.ts";

const PRICE = 10_000n;
const ROUNDS = 40;
const database = await openRaceDatabase({ count: 16, because: "16 of the calls run at the same time" });
afterAll(() => database?.close());

it.skipIf(database === undefined)(
  "calls that lock a project, users, sessions and budgets never wait for each other in a circle",
  async () => {
    const db = database!;
    const signals = createLocalSignals();
    const deps = {
      database: db,
      signals,
      presigns: createPresignQueue({ clock: systemClock, signals, waitingMaxCount: 0 }),
      checkHalf: checkHalfInline,
      prices: flatPrices(PRICE),
      reservationTtlMs: 200,
      openMaxCount: 1_000,
    };
    const projectId = await projectWith(db, 100_000n * PRICE);
    const dwallet = await dwalletOf(db, projectId, { userReference: "alice" });
    await readyPresigns(db, dwallet.bucket, 4 * ROUNDS);
    const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
    const budget = { windowSeconds: 3_600, maxCount: 1_000, maxMicroUsd: undefined };
    const limits = { userReferences: ["alice"], budget };
    const id = newId();
    await db.transaction((tx) => insertAllowance(tx, { id, projectId, limits }));
    const narrow = { ...caller, allowance: { id, dwalletIds: undefined, algorithms: undefined, ...limits } };
    const sessions = createSessionDeps({
      database: db,
      lookup: { forget() {} },
      usersMaxCountOf: () => 10_000,
    });
    const { id: apiKeyId } = await db.transaction((tx) =>
      insertApiKey(tx, TEST_ORIGIN, { projectId, name: "backend", scopes: SCOPES }),
    );
    const backend = { kind: "project", ...caller, apiKeyId, scopes: SCOPES } as const;
    const time = () => ({ timeoutMs: 30_000, signal: new AbortController().signal });
    const sign = async (round: number) => {
      const request = { dwalletId: dwallet.objectId, triple: TEST_TRIPLE, idempotency: undefined };
      const row = await reserve(deps, narrow, { ...request, message: Uint8Array.of(1) }, time());
      // Every other one expires.
      if (round % 2 === 0)
        await submit(deps, narrow, { signRequestId: row.id, userSignMessage: layoutOfSignMessage() });
    };
    const begin = (userReference: string, idempotency: ReturnType<typeof keyed> | undefined) =>
      createSession(sessions, backend, idempotency, { userReference, scopes: ["sign"] });
    const calls: readonly ((round: number) => Promise<unknown>)[] = [
      sign,
      sign,
      (round) => begin("alice", round % 2 === 0 ? keyed(`alice-${round}`) : undefined),
      (round) => begin(`new-${round}`, round % 2 === 0 ? keyed(`new-${round}`) : undefined),
      (round) => createUser(db, caller, `user-${round % 5}`, 10_000),
      (round) => deleteUser(db, caller, `user-${round % 5}`),
      () => freezeUser(db, caller, "alice"),
      () => unfreezeUser(db, caller, "alice"),
      () => revokeUserSessions(sessions, backend, "alice"),
      () => expireReservations(db, signals, 10),
    ];
    const outcomes = await Promise.all(
      calls.map(async (call) => {
        const seen = new Set<string>();
        for (let round = 0; round < ROUNDS; round++) seen.add(await refusalOf(call(round)));
        return [...seen];
      }),
    );
    const expected = ["not refused", "USER_FROZEN", "USER_DELETED", "USER_NOT_FOUND", "WRONG_STATE"];
    expect(outcomes.flat().filter((outcome) => !expected.includes(outcome))).toEqual([]);
    expect((await moneyOf(db, projectId)).differences).toEqual([]);
  },
);
