/**
 * A replica that reserves signatures, one after the other over several connections, until a reservation is refused or
 * it is killed. It prints a line for each reservation. Arguments: the database's URL, and a {@link ReservingPlan} as
 * JSON.
 */
import type { Allowance } from "../../../src/service/access/allowances/allowance.ts";
import { createLocalSignals } from "../../../src/service/platform/coordination/local-coordination.ts";
import { ServiceError } from "../../../src/service/platform/errors/service-error.ts";
import { systemClock } from "../../../src/service/platform/lifecycle/clock.ts";
import { createPresignQueue } from "../../../src/service/presigns/presign-queue.ts";
import { reserve } from "../../../src/service/signing/reserve.ts";
import { flatPrices } from "./prices.ts";
import { TEST_ORIGIN, TEST_TRIPLE } from "./rows.ts";
import { openTestPool } from "./test-pool.ts";

/** What to reserve, for whom. */
export interface ReservingPlan {
  readonly projectId: string;
  readonly allowance: { readonly id: string; readonly windowSeconds: number; readonly maxCount: number };
  readonly dwalletId: string;
  readonly priceMicroUsd: number;
  readonly connectionCount: number;
}

const [url = "", json = ""] = process.argv.slice(2);
const { projectId, allowance, dwalletId, priceMicroUsd, connectionCount } = JSON.parse(json) as ReservingPlan;
const { id, ...budget } = allowance;
const limits: Allowance = {
  id,
  userReferences: undefined,
  dwalletIds: undefined,
  algorithms: undefined,
  budget: { ...budget, maxMicroUsd: undefined },
};
const database = await openTestPool(url, {
  connections: { count: connectionCount, because: "the calls run at the same time" },
});
const signals = createLocalSignals();
const deps = {
  database,
  signals,
  presigns: createPresignQueue({ clock: systemClock, signals }),
  prices: flatPrices(BigInt(priceMicroUsd)),
  reservationTtlMs: 600_000,
  openMaxCount: 1_000,
};
const caller = { projectId, network: "localnet", allowance: limits, origin: TEST_ORIGIN };
const input = { dwalletId, triple: TEST_TRIPLE, message: Uint8Array.of(1), idempotency: undefined };

async function reserveUntilRefused(): Promise<void> {
  for (;;) {
    const time = { timeoutMs: 30_000, signal: new AbortController().signal };
    try {
      const row = await reserve(deps, caller, input, time);
      process.stdout.write(`${row.id}\n`);
    } catch (error) {
      if (error instanceof ServiceError && error.reason === "BUDGET_EXCEEDED") return;
      throw error;
    }
  }
}

await Promise.all(Array.from({ length: connectionCount }, reserveUntilRefused));
await database.close();
