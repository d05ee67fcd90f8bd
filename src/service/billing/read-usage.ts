import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import sql, { type Sql } from "sql-template-tag";
import { type GetUsageResponse, GetUsageResponseSchema } from "../../../gen/proto/tss/v1/billing_pb.ts";
import { invalidField } from "../platform/errors/service-error.ts";
import { HOUR_MS } from "../platform/lifecycle/clock.ts";
import { bigint, type Columns, oneOf, time } from "../platform/store/columns.ts";
import { type Queryable, readRows } from "../platform/store/database.ts";

/**
 * Adds up the ledger entries of the project, or of one of its users, in each step of the window. Reads one row per hour
 * and kind.
 */
export async function readUsage(
  db: Queryable,
  projectId: string,
  window: UsageWindow,
  userReference?: string,
): Promise<UsageSteps> {
  const rows = await readRows(db, sums(projectId, window, userReference), SUM);
  const steps = new Map<number, Usage>();
  const total: Usage = { ...NOTHING };
  for (const { start, kind, count, amountMicroUsd } of rows) {
    const usage = steps.get(start.getTime()) ?? { ...NOTHING };
    steps.set(start.getTime(), usage);
    for (const sum of [usage, total]) add(sum, kind, count, amountMicroUsd);
  }
  return { total, steps: [...steps].map(([startMs, usage]) => ({ start: new Date(startMs), usage })) };
}

/**
 * Returns the window of a request, widened to whole steps (UTC). Throws VALIDATION for a window that is empty or too
 * long.
 */
export function usageWindow(
  { start, end, step }: { start: Date | undefined; end: Date | undefined; step: UsageStepName },
  now: Date,
): UsageWindow {
  const { stepMs, defaultCount, maxCount } = STEPS[step];
  const endMs = Math.ceil((end ?? now).getTime() / stepMs) * stepMs;
  const startMs =
    start === undefined ? endMs - defaultCount * stepMs : Math.floor(start.getTime() / stepMs) * stepMs;
  if ((start ?? new Date(startMs)) >= (end ?? new Date(endMs)))
    throw invalidField("start_time", "must be before the end of the window");
  if ((endMs - startMs) / stepMs > maxCount + 1)
    throw invalidField("start_time", `must be at most ${maxCount} ${step}s before the end of the window`);
  return { step, start: new Date(startMs), end: new Date(endMs) };
}

type UsageStepName = "hour" | "day";

/** A window of whole steps from `start` up to, but without, `end`. */
interface UsageWindow {
  readonly step: UsageStepName;
  readonly start: Date;
  readonly end: Date;
}

/** Usage and payments. */
interface Usage {
  signCount: bigint;
  signRefundCount: bigint;
  dwalletCount: bigint;
  dwalletRefundCount: bigint;
  shareCount: bigint;
  shareRefundCount: bigint;
  /** The charges minus the refunds. */
  chargedMicroUsd: bigint;
  depositCount: bigint;
  depositedMicroUsd: bigint;
  /** The operator's adjustments. */
  adjustedMicroUsd: bigint;
}

/** The usage of each step with a ledger entry, and of the whole window. */
interface UsageSteps {
  readonly total: Readonly<Usage>;
  readonly steps: readonly { readonly start: Date; readonly usage: Readonly<Usage> }[];
}

const STEPS = {
  hour: { stepMs: HOUR_MS, defaultCount: 24, maxCount: 7 * 24 },
  day: { stepMs: 24 * HOUR_MS, defaultCount: 30, maxCount: 92 },
} as const;

const NOTHING: Readonly<Usage> = {
  signCount: 0n,
  signRefundCount: 0n,
  dwalletCount: 0n,
  dwalletRefundCount: 0n,
  shareCount: 0n,
  shareRefundCount: 0n,
  chargedMicroUsd: 0n,
  depositCount: 0n,
  depositedMicroUsd: 0n,
  adjustedMicroUsd: 0n,
};

const KINDS = ["credit", "sign", "refund", "deposit", "dkg", "dkg_refund", "share", "share_refund"] as const;
type Kind = (typeof KINDS)[number];

const COUNTED = {
  sign: "signCount",
  refund: "signRefundCount",
  dkg: "dwalletCount",
  dkg_refund: "dwalletRefundCount",
  share: "shareCount",
  share_refund: "shareRefundCount",
  deposit: "depositCount",
} as const;

function add(usage: Usage, kind: Kind, count: bigint, amountMicroUsd: bigint): void {
  if (kind !== "credit") usage[COUNTED[kind]] += count;
  if (kind === "credit") usage.adjustedMicroUsd += amountMicroUsd;
  else if (kind === "deposit") usage.depositedMicroUsd += amountMicroUsd;
  else usage.chargedMicroUsd -= amountMicroUsd;
}

interface Sum {
  readonly start: Date;
  readonly kind: Kind;
  readonly count: bigint;
  readonly amountMicroUsd: bigint;
}

const SUM: Columns<Sum> = { start: time, kind: oneOf(...KINDS), count: bigint, amountMicroUsd: bigint };

function sums(projectId: string, { step, start, end }: UsageWindow, userReference?: string): Sql {
  const table =
    userReference === undefined
      ? sql`ledger_hour WHERE`
      : sql`ledger_user_hour WHERE user_reference = ${userReference} AND`;
  return sql`
SELECT date_trunc(${step}, hour, 'UTC') AS start, kind, sum(entry_count)::bigint AS count,
  sum(amount_micro_usd)::bigint AS "amountMicroUsd"
FROM ${table} project_id = ${projectId} AND hour >= ${start} AND hour < ${end}
GROUP BY 1, 2 ORDER BY 1, 2`;
}

/** Encodes the usage of a window. */
export function encodeUsage({ start, end }: UsageWindow, { steps, total }: UsageSteps): GetUsageResponse {
  return create(GetUsageResponseSchema, {
    startTime: timestampFromDate(start),
    endTime: timestampFromDate(end),
    steps: steps.map((step) => ({ startTime: timestampFromDate(step.start), usage: step.usage })),
    total,
  });
}
