/** Submissions of held halves that wait for a lock of their project, on a real PostgreSQL with a pool of two connections. */
import { afterAll, describe, expect, it } from "vitest";
import { createLocalSignals } from "../../src/service/platform/coordination/local-coordination.ts";
import { isDatabaseUnavailable } from "../../src/service/platform/errors/error-mapping.ts";
import type { Database } from "../../src/service/platform/store/database.ts";
import {
  HOLD_PRICE,
  holdSteps,
  type KeyCaller,
  keyCaller,
  SIGN_PRICE,
} from "../support/crypto/hold-steps.ts";
import { migratedDatabase } from "../support/database/postgres.ts";
import { dwalletOf, moneyOf, projectWith, readyPresigns } from "../support/database/rows.ts";
import { openTestPool } from "../support/database/test-pool.ts";
import { pollUntil } from "../support/poll-until.ts";
import { refusalOf } from "../support/service/service-client.ts";

const CREDIT = 1_000n;
const PRICE = SIGN_PRICE + HOLD_PRICE;
const COUNT = 8;
const CHARGED = { balance: CREDIT - BigInt(COUNT) * PRICE, differences: [] };
const test = await migratedDatabase();
const pools: Database[] = [];
if (test !== undefined) {
  pools.push(await openTestPool(test.url), await openTestPool(test.url));
}
afterAll(async () => {
  for (const pool of pools) await pool.close();
  await test?.drop();
});

describe.skipIf(test === undefined)(
  "while a project's submissions of held halves wait for another replica",
  () => {
    const [own, replica] = pools as [Database, Database];
    const steps = holdSteps(own, createLocalSignals());

    /** A new project with credit and requests that wait for their halves. */
    async function projectOf(count: number): Promise<TestProject> {
      const id = await projectWith(own, CREDIT);
      const dwallet = await dwalletOf(own, id);
      await readyPresigns(own, dwallet.bucket, count);
      const caller = await keyCaller(own, id, ["sign"]);
      const requests: string[] = [];
      while (requests.length < count) requests.push(await steps.reserve(caller, dwallet));
      return { id, caller, requests };
    }

    const submitAll = ({ caller, requests }: TestProject) =>
      Promise.all(requests.map((id) => refusalOf(steps.submit(caller, id))));

    it("another project submits, and then all of them count once", async () => {
      const [stuck, other] = [await projectOf(COUNT), await projectOf(1)];
      const { submissions } = await replica.transaction(async (tx) => {
        await tx.query(LOCK, [stuck.id]);
        const [self] = await tx.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
        const waiting = submitAll(stuck);
        await pollUntil(async () => (await replica.query(WAITING, [self!.pid])).length > 0);
        expect(await submitAll(other)).toEqual(["not refused"]);
        expect(await replica.query(WAITING, [self!.pid])).toHaveLength(1);
        return { submissions: waiting };
      });
      expect(new Set(await submissions)).toEqual(new Set(["not refused"]));
      expect(await moneyOf(own, stuck.id)).toMatchObject(CHARGED);
    });

    it("they give up together, and are charged once when they are repeated", async () => {
      const stuck = await projectOf(COUNT);
      await replica.transaction(async (tx) => {
        await tx.query(LOCK, [stuck.id]);
        const submissions = stuck.requests.map((id) => steps.submit(stuck.caller, id));
        for (const outcome of await Promise.allSettled(submissions))
          expect(outcome).toSatisfy(isRejectedForLater);
      });
      expect(new Set(await submitAll(stuck))).toEqual(new Set(["not refused"]));
      expect(await moneyOf(own, stuck.id)).toMatchObject(CHARGED);
    });
  },
);

/** The caller gets it as DATABASE_UNAVAILABLE. */
function isRejectedForLater(outcome: PromiseSettledResult<unknown>): boolean {
  return outcome.status === "rejected" && isDatabaseUnavailable(outcome.reason);
}

interface TestProject {
  readonly id: string;
  readonly caller: KeyCaller;
  readonly requests: readonly string[];
}

/** The lock of a replica that adds held halves to the project, and never ends. */
const LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('sign holds of ' || $1, 0))";
const WAITING = "SELECT pid FROM pg_stat_activity WHERE $1::int = ANY(pg_blocking_pids(pid))";
