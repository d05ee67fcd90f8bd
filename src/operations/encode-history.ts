import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate, timestampFromMs } from "@bufbuild/protobuf/wkt";
import {
  type BalanceBurnSchema,
  type GetPresignHistoryResponse,
  GetPresignHistoryResponseSchema,
  type GetTreasuryHistoryResponse,
  GetTreasuryHistoryResponseSchema,
  type PresignBucketHistory,
  PresignBucketHistorySchema,
  PresignLevelsSchema,
} from "../../gen/proto/tss/v1/operations_pb.ts";
import { curveOfNumber, signatureAlgorithmOfNumbers } from "../protocol/algorithms.ts";
import { burnOf } from "./burn-of.ts";
import type { PresignStep } from "./read-presign-history.ts";
import type { NotedFunds } from "./read-treasury-history.ts";
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
      ...{ ikaBalance: ika, suiBalanceMist: sui, gasBalanceMist: gas },
    })),
    ...{ ika: burn("ika"), sui: burn("sui"), gas: burn("gas") },
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
