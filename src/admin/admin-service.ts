import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../gen/proto/tss/v1/admin_pb.ts";
import { callerOf } from "../access/caller.ts";
import type { AuditOrigin } from "../audit/audit-event.ts";
import { ServiceError } from "../errors/service-error.ts";
import type { PresignBucket } from "../presigns/bucket.ts";
import type { PresignCounts } from "../presigns/presign-health.ts";
import {
  CURVE_ALGORITHMS,
  type CurveAlgorithm,
  curveOfNumber,
  signatureAlgorithmOfNumbers,
} from "../protocol/algorithms.ts";
import { type AccountCallsDeps, createAccountCalls } from "./account-calls.ts";
import { type AdminKeyCallsDeps, createAdminKeyCalls } from "./admin-key-calls.ts";
import { type ChainReads, createChainCalls } from "./chain-calls.ts";

/** Implements `tss.v1.Admin`. */
export function createAdminService(deps: AdminServiceDeps): ServiceImpl<typeof Admin> {
  const { lowWaterCount: lowWater, highWaterCount: highWater } = deps;
  return {
    ...createAccountCalls(deps.accounts),
    ...createAdminKeyCalls(deps.adminKeys),
    ...createChainCalls(deps.chain),
    async getPresignHealth({ curve, signatureAlgorithm }) {
      const buckets = (await deps.readPresignHealth())
        .filter((bucket) => curve === undefined || bucket.curve === curve)
        .filter(
          (bucket) => signatureAlgorithm === undefined || bucket.signatureAlgorithm === signatureAlgorithm,
        )
        .map((bucket) => ({
          ...bucket,
          curveName: curveOfNumber(bucket.curve) ?? "",
          signatureAlgorithmName: signatureAlgorithmOfNumbers(bucket.curve, bucket.signatureAlgorithm) ?? "",
          lowWater,
          highWater,
        }));
      return { buckets };
    },
    async refillPresigns({ curve, signatureAlgorithm, count }, context) {
      const { origin } = callerOf(context, "admin");
      const algorithm = CURVE_ALGORITHMS.find(
        (known) => known.curveNumber === curve && known.signatureAlgorithmNumber === signatureAlgorithm,
      );
      if (algorithm === undefined) {
        throw new ServiceError("UNSUPPORTED_ALGORITHM", "the curve has no such signature algorithm");
      }
      return { queued: await deps.refillBucket(origin, algorithm, count) };
    },
  };
}

export interface AdminServiceDeps {
  readonly readPresignHealth: () => Promise<readonly (PresignBucket & PresignCounts)[]>;
  /** Returns how many presigns were queued. */
  readonly refillBucket: (origin: AuditOrigin, algorithm: CurveAlgorithm, count: number) => Promise<number>;
  readonly accounts: AccountCallsDeps;
  readonly adminKeys: AdminKeyCallsDeps;
  readonly chain: ChainReads;
  readonly lowWaterCount: number;
  readonly highWaterCount: number;
}
