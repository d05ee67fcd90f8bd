import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { LedgerEntry_Kind } from "../../gen/proto/tss/v1/billing_pb.ts";
import {
  type GetMoneyResponse,
  GetMoneyResponseSchema,
  SweepCount_State,
} from "../../gen/proto/tss/v1/operations_pb.ts";
import type { Money } from "./read-money.ts";

export function encodeMoney(
  { oldestWaitingDeposit: oldestWaiting, lastDay, sweeps, verification, ...shown }: Money,
  readAt: Date,
): GetMoneyResponse {
  return create(GetMoneyResponseSchema, {
    ...shown,
    ...(oldestWaiting && { oldestWaitingDepositTime: timestampFromDate(oldestWaiting) }),
    lastDay: lastDay.map(({ kind, ...sum }) => ({ kind: LedgerEntry_Kind[kind], ...sum })),
    sweeps: sweeps.map(({ state, count, oldest }) => ({
      ...{ state: SweepCount_State[state], count },
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
