import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql, { type Sql } from "sql-template-tag";
import { LedgerEntry_Kind } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import {
  type GetMoneyResponse,
  GetMoneyResponseSchema,
  SweepCount_State,
} from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { type LastVerification, readVerification } from "../../ledger/last-verification.ts";
import { bigint, type Columns, nullable, oneOf, time } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";

/** Adds up the money of a network. Reads one row for each project, each waiting deposit and each unfinished sweep. */
export async function readMoney(db: Queryable, network: string): Promise<Money> {
  const [balances] = await readRows(db, balancesOf(network), BALANCES);
  const [waiting] = await readRows(db, waitingOf(network), WAITING);
  return {
    ...balances!,
    ...waiting!,
    lastDay: await readRows(db, lastDayOf(network), LEDGER_SUM),
    sweeps: await readRows(db, sweepsOf(network), SWEEPS),
    verification: await readVerification(db),
  };
}

/** The money of a network, in micro-USD. */
interface Money extends Balances, Waiting {
  readonly lastDay: readonly LedgerSumRow[];
  readonly sweeps: readonly SweepSum[];
  /** Of the whole database; undefined before the first verification. */
  readonly verification: LastVerification | undefined;
}

interface Balances {
  readonly projectCount: bigint;
  readonly balanceMicroUsd: bigint;
  readonly heldMicroUsd: bigint;
}

interface Waiting {
  readonly waitingDepositCount: bigint;
  readonly oldestWaitingDeposit: Date | null;
}

interface LedgerSumRow {
  readonly kind: (typeof KINDS)[number];
  readonly count: bigint;
  readonly amountMicroUsd: bigint;
}

interface SweepSum {
  readonly state: (typeof SWEEP_STATES)[number];
  readonly count: bigint;
  readonly oldest: Date;
}

const KINDS = ["credit", "sign", "refund", "deposit", "dkg", "dkg_refund", "share", "share_refund"] as const;
const SWEEP_STATES = ["queued", "refused", "failed"] as const;

const BALANCES: Columns<Balances> = { projectCount: bigint, balanceMicroUsd: bigint, heldMicroUsd: bigint };
const WAITING: Columns<Waiting> = { waitingDepositCount: bigint, oldestWaitingDeposit: nullable(time) };
const LEDGER_SUM: Columns<LedgerSumRow> = { kind: oneOf(...KINDS), count: bigint, amountMicroUsd: bigint };
const SWEEPS: Columns<SweepSum> = { state: oneOf(...SWEEP_STATES), count: bigint, oldest: time };

const balancesOf = (network: string): Sql => sql`
SELECT count(*) AS "projectCount", coalesce(sum(balance_micro_usd), 0)::bigint AS "balanceMicroUsd",
  coalesce(sum(held_micro_usd), 0)::bigint AS "heldMicroUsd"
FROM project WHERE network = ${network}`;

const waitingOf = (network: string): Sql => sql`
SELECT count(*) AS "waitingDepositCount", min(created_at) AS "oldestWaitingDeposit"
FROM deposit WHERE network = ${network} AND state = 'waiting'`;

const lastDayOf = (network: string): Sql => sql`
SELECT h.kind, sum(h.entry_count)::bigint AS count, sum(h.amount_micro_usd)::bigint AS "amountMicroUsd"
FROM ledger_hour h JOIN project p ON p.id = h.project_id
WHERE h.hour >= date_trunc('hour', now(), 'UTC') - interval '24 hours' AND p.network = ${network}
GROUP BY h.kind ORDER BY h.kind`;

const sweepsOf = (network: string): Sql => sql`
SELECT state, count(*) AS count, min(created_at) AS oldest FROM sweep
WHERE network = ${network} AND state IN ('queued', 'refused', 'failed') GROUP BY state ORDER BY state`;

export function encodeMoney(
  { oldestWaitingDeposit: oldestWaiting, lastDay, sweeps, verification, ...shown }: Money,
  readAt: Date,
): GetMoneyResponse {
  return create(GetMoneyResponseSchema, {
    ...shown,
    ...(oldestWaiting && { oldestWaitingDepositTime: timestampFromDate(oldestWaiting) }),
    lastDay: lastDay.map(({ kind, ...sum }) => ({ kind: LedgerEntry_Kind[kind], ...sum })),
    sweeps: sweeps.map(({ state, count, oldest }) => ({
      state: SweepCount_State[state],
      count,
      oldestCreateTime: timestampFromDate(oldest),
    })),
    ...(verification && {
      ledgerVerification: {
        verifyTime: timestampFromDate(verification.verifiedAt),
        differenceCount: verification.differenceCount,
        differences: [...verification.differences],
      },
    }),
    readTime: timestampFromDate(readAt),
  });
}
