/** A service whose PostgreSQL dies under load, and whose synchronous standby takes over. */
import { afterAll, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { createErrorMapping, reasonOf } from "../../src/service/platform/errors/error-mapping.ts";
import { systemClock } from "../../src/service/platform/lifecycle/clock.ts";
import { migrate } from "../../src/service/platform/store/migrate.ts";
import { createPresignQueue } from "../../src/service/presigns/presign-queue.ts";
import { reserve } from "../../src/service/signing/reserve.ts";
import { submit } from "../../src/service/signing/submit.ts";
import { checkHalfInline } from "../support/crypto/inline-verifier.ts";
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
import { startStandbyPair } from "../support/database/standby-pair.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";
import { silentLog } from "../support/silent-log.ts";

const PRICE = 10n;
const SIGNERS = 5;
/** Of each signer, and of the caller that only reserves. */
const COUNT = 40;
/** The standby falls behind after this many replies, and then the primary dies. */
const REPLIES_BEFORE_DEATH = 100;
const MESSAGE = layoutOfSignMessage();
const CONNECTIONS = { count: SIGNERS + 1, because: "each caller has one" };
const pair = await startStandbyPair();
const database = pair && (await openTestPool(pair.url, { connections: CONNECTIONS }));
afterAll(async () => {
  await database?.close();
  await pair?.stop();
});

describe.skipIf(pair === undefined)("when the primary dies and its synchronous standby takes over", () => {
  const db = database!;
  const signals = createLocalSignals();
  const deps = {
    database: db,
    signals,
    presigns: createPresignQueue({ clock: systemClock, signals }),
    checkHalf: checkHalfInline,
    prices: flatPrices(PRICE),
    reservationTtlMs: 600_000,
    openMaxCount: 1_000,
  };
  const time = () => ({ timeoutMs: 60_000, signal: new AbortController().signal });

  it("every acknowledged call has happened, every repeated one happened once, and the ledger adds up", async () => {
    await migrate(db, silentLog);
    const count = (SIGNERS + 1) * COUNT;
    const projectId = await projectWith(db, BigInt(count) * PRICE);
    const dwallet = await dwalletOf(db, projectId);
    await readyPresigns(db, dwallet.bucket, count);
    const caller = { projectId, network: "localnet", origin: TEST_ORIGIN };
    /** What the replies said: each message's request, and those that were submitted. */
    const reserved = new Map<string, string>();
    const submitted = new Set<string>();
    let failureCount = 0;
    let failedOver: Promise<void> | undefined;
    let isOver = false;

    /** Repeats a call as a client does, after the failover if the database does not answer. */
    async function repeated<T>(call: () => Promise<T>): Promise<T> {
      for (;;) {
        try {
          return await call();
        } catch (error) {
          const mapping = createErrorMapping(() => {});
          const reason = reasonOf(mapping.toConnectError(error, { requestId: "r", method: "m" }));
          if (reason !== "DATABASE_UNAVAILABLE") throw error;
          failureCount++;
          await failedOver;
        }
      }
    }
    async function reserveOne(key: string): Promise<string> {
      const message = new TextEncoder().encode(key);
      const input = {
        dwalletId: dwallet.objectId,
        triple: TEST_TRIPLE,
        message,
        idempotency: keyed(key),
      };
      const { id } = await repeated(() => reserve(deps, caller, input, time()));
      reserved.set(key, id);
      replied();
      return id;
    }
    async function signOne(key: string): Promise<void> {
      const signRequestId = await reserveOne(key);
      await repeated(() => submit(deps, caller, { signRequestId, userSignMessage: MESSAGE }));
      submitted.add(signRequestId);
      replied();
    }
    function replied(): void {
      if (reserved.size + submitted.size !== REPLIES_BEFORE_DEATH) return;
      pair!.pauseStandby();
      failedOver = failOver();
    }
    async function failOver(): Promise<void> {
      // A reservation is made on the primary, the standby has not applied it, and nobody has its reply. If commits did
      // not wait for the standby, the callers would end instead, and what they got would be lost.
      await pollUntil(async () => isOver || (await pair!.isWaiting("INSERT INTO sign_request")));
      pair!.killPrimary();
      await pair!.failOver();
    }
    async function inTurn(name: string, one: (key: string) => Promise<unknown>): Promise<void> {
      for (let index = 0; index < COUNT; index++) await one(`${name}/${index}`);
    }
    const signers = Array.from({ length: SIGNERS }, (_, place) => inTurn(`signer ${place}`, signOne));
    await Promise.all([inTurn("reserver", reserveOne), ...signers]);
    isOver = true;
    await failedOver;

    expect(failureCount).toBeGreaterThan(0);
    const rows = await db.query<{ id: string; key: string; status: string; operations: number }>(
      `SELECT r.id, convert_from(r.message, 'UTF8') AS key, r.status,
         (SELECT count(*)::int FROM chain_operation o WHERE o.subject_id = r.id) AS operations
       FROM sign_request r WHERE r.project_id = $1`,
      [projectId],
    );
    expect(rows).toHaveLength(count);
    expect(new Map(rows.map(({ key, id }) => [key, id]))).toEqual(reserved);
    for (const { id, status, operations } of rows)
      expect([status, operations]).toEqual(submitted.has(id) ? ["queued", 1] : ["prepared", 0]);
    const held = BigInt(COUNT) * PRICE;
    expect(await moneyOf(db, projectId)).toEqual({ balance: held, held, differences: [] });
  });
});
