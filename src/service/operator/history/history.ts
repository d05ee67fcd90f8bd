import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import sql, { type Sql } from "sql-template-tag";
import {
  type BalanceBurnSchema,
  type GetPresignHistoryResponse,
  GetPresignHistoryResponseSchema,
  type GetTreasuryHistoryResponse,
  GetTreasuryHistoryResponseSchema,
  type PresignBucketHistory,
  PresignBucketHistorySchema,
  PresignLevelsSchema,
} from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { curveOfNumber, signatureAlgorithmOfNumbers } from "../../../protocol/algorithms.ts";
import { bigint, type Columns, number, text, time } from "../../platform/store/columns.ts";
import { type Queryable, readRows } from "../../platform/store/database.ts";
import type { TreasuryFunds } from "./sampling.ts";
import type { TimeSteps } from "./time-steps.ts";

/** Encodes levels of the pool, grouped by bucket. */
export function encodePresignHistory(
  window: TimeSteps,
  levels: readonly PresignStep[],
): GetPresignHistoryResponse {
  const buckets = new Map<string, PresignBucketHistory>();
  for (const { curve, signatureAlgorithm, networkEncryptionKeyId, step, ...shown } of levels) {
    const key = `${curve} ${signatureAlgorithm} ${networkEncryptionKeyId}`;
    const bucket =
      buckets.get(key) ??
      create(PresignBucketHistorySchema, {
        curveName: curveOfNumber(curve) ?? "",
        signatureAlgorithmName: signatureAlgorithmOfNumbers(curve, signatureAlgorithm) ?? "",
        networkEncryptionKeyId,
      });
    buckets.set(key, bucket);
    const startTime = timestampFromMs(window.start.getTime() + step * window.stepSeconds * 1000);
    bucket.steps.push(create(PresignLevelsSchema, { startTime, ...shown }));
  }
  return create(GetPresignHistoryResponseSchema, { ...encodeWindow(window), buckets: [...buckets.values()] });
}

/** Encodes the last balances of each step, and how fast they shrink. */
export function encodeTreasuryHistory(
  window: TimeSteps,
  noted: readonly NotedFunds[],
): GetTreasuryHistoryResponse {
  const stepOf = ({ time }: NotedFunds) =>
    Math.floor((time.getTime() - window.start.getTime()) / 1000 / window.stepSeconds);
  const lastOfSteps = new Map(noted.map((funds) => [stepOf(funds), funds]));
  return create(GetTreasuryHistoryResponseSchema, {
    ...encodeWindow(window),
    steps: [...lastOfSteps.values()].map(({ time, ika, sui, gas }) => ({
      time: timestampFromDate(time),
      ikaBalance: ika,
      suiBalanceMist: sui,
      gasBalanceMist: gas,
    })),
    ika: burn("ika"),
    sui: burn("sui"),
    gas: burn("gas"),
  });

  function burn(name: "ika" | "sui" | "gas"): MessageInitShape<typeof BalanceBurnSchema> {
    const { balance, perDay, daysLeft } = burnOf(
      noted.map((each) => ({ time: each.time, balance: each[name] })),
    );
    return {
      balance,
      ...(perDay !== undefined && { burnPerDay: perDay }),
      ...(daysLeft !== undefined && { daysLeft }),
    };
  }
}

function encodeWindow({ start, end, stepSeconds }: TimeSteps) {
  return { startTime: timestampFromDate(start), endTime: timestampFromDate(end), stepSeconds };
}

/** Reads the recorded levels of the pool, sorted by bucket and then by step. */
export function readPresignHistory(
  db: Queryable,
  network: string,
  window: TimeSteps,
  only: { readonly curve: number; readonly signatureAlgorithm: number } | undefined,
): Promise<PresignStep[]> {
  return readRows(db, levels(network, window, only), STEP);
}

interface PresignStep {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly networkEncryptionKeyId: string;
  /** Counts from 0. */
  readonly step: number;
  readonly sampleCount: number;
  readonly emptySampleCount: number;
  readonly readyMin: number;
  readonly readyLast: number;
  readonly pendingLast: number;
  readonly heldLast: number;
  readonly madeCount: bigint;
  readonly takenCount: bigint;
}

const STEP: Columns<PresignStep> = {
  curve: number,
  signatureAlgorithm: number,
  networkEncryptionKeyId: text,
  step: number,
  sampleCount: number,
  emptySampleCount: number,
  readyMin: number,
  readyLast: number,
  pendingLast: number,
  heldLast: number,
  madeCount: bigint,
  takenCount: bigint,
};

const levels = (
  network: string,
  { start, end, stepSeconds }: TimeSteps,
  only: { readonly curve: number; readonly signatureAlgorithm: number } | undefined,
): Sql => sql`
SELECT curve, signature_algorithm AS "signatureAlgorithm", network_encryption_key_id AS "networkEncryptionKeyId",
  floor(extract(epoch FROM minute - ${start}::timestamptz) / ${stepSeconds}::int)::int AS step,
  count(*)::int AS "sampleCount", count(*) FILTER (WHERE ready = 0)::int AS "emptySampleCount",
  min(ready) AS "readyMin", (array_agg(ready ORDER BY minute DESC))[1] AS "readyLast",
  (array_agg(pending ORDER BY minute DESC))[1] AS "pendingLast", (array_agg(held ORDER BY minute DESC))[1] AS "heldLast",
  sum(made)::bigint AS "madeCount", sum(taken)::bigint AS "takenCount"
FROM presign_sample
WHERE network = ${network} AND minute >= ${start} AND minute < ${end}
  AND (${only?.curve ?? null}::int IS NULL
    OR (curve, signature_algorithm) = (${only?.curve ?? null}::int, ${only?.signatureAlgorithm ?? null}::int))
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4`;

/** Reads the recorded balances from `start` up to `end`, the oldest first: at most one per ten minutes. */
export async function readTreasuryHistory(
  db: Queryable,
  network: string,
  { start, end }: { readonly start: Date; readonly end: Date },
): Promise<NotedFunds[]> {
  const rows = await readRows(
    db,
    sql`SELECT taken_at AS time, ika::text AS ika, sui::text AS sui, gas::text AS gas FROM treasury_sample
        WHERE network = ${network} AND taken_at >= ${start} AND taken_at < ${end} ORDER BY taken_at`,
    ROW,
  );
  return rows.map(({ time: at, ika, sui, gas }) => ({
    time: at,
    ika: BigInt(ika),
    sui: BigInt(sui),
    gas: BigInt(gas),
  }));
}

interface NotedFunds extends TreasuryFunds {
  readonly time: Date;
}

interface Row {
  readonly time: Date;
  readonly ika: string;
  readonly sui: string;
  readonly gas: string;
}

const ROW: Columns<Row> = { time, ika: text, sui: text, gas: text };

/** Returns how fast a balance shrinks, from its values over time. Only decreases count: an increase is a deposit. */
export function burnOf(values: readonly BalanceAt[]): Burn {
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined)
    return { balance: 0n, perDay: undefined, daysLeft: undefined };
  const { balance } = last;
  const elapsedMs = last.time.getTime() - first.time.getTime();
  if (elapsedMs < LEAST_MS) return { balance, perDay: undefined, daysLeft: undefined };
  const lost = values.slice(1).reduce((sum, value, index) => {
    const change = values[index]!.balance - value.balance;
    return change > 0n ? sum + change : sum;
  }, 0n);
  const perDay = (lost * DAY_MS) / BigInt(elapsedMs);
  return { balance, perDay, daysLeft: perDay === 0n ? undefined : Number(balance) / Number(perDay) };
}

interface BalanceAt {
  readonly time: Date;
  readonly balance: bigint;
}

/** The rate at which a balance shrinks. */
interface Burn {
  /** The last value. */
  readonly balance: bigint;
  /** Undefined if the values span less than an hour. */
  readonly perDay: bigint | undefined;
  /** Undefined without a rate, or if it is 0. */
  readonly daysLeft: number | undefined;
}

const DAY_MS = 86_400_000n;
/** A rate over a shorter time would say little. */
const LEAST_MS = 3_600_000;
