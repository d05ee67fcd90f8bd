import type { ServiceImpl } from "@connectrpc/connect";
import type { Admin } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import {
  CURVE_ALGORITHMS,
  type CurveAlgorithm,
  curveOfNumber,
  signatureAlgorithmOfNumbers,
} from "../../../protocol/algorithms.ts";
import { callerOf } from "../../access/caller.ts";
import type { IdentityProviderCalls } from "../../access/identity/identity-service.ts";
import type { FundsSource } from "../../chain/treasury/read-treasury.ts";
import { invalidField, ServiceError } from "../../platform/errors/service-error.ts";
import type { Database } from "../../platform/store/database.ts";
import { readPresignHealth } from "../../presigns/presign-health.ts";
import { type RefilledPool, refillBucket } from "../../presigns/request-presigns.ts";
import type { AccountCalls, AdminKeyCalls } from "./account-calls.ts";
import { createChainCalls } from "./chain-calls.ts";
import { createInspectCalls } from "./inspect-calls.ts";
import type { AdminNetworkWorkCalls } from "./network-calls.ts";
import type { AdminPriceCalls } from "./price-calls.ts";
import { wantedBucket } from "./wanted-bucket.ts";

/** Implements the calls of `tss.v1.Admin` about one network's chain and presigns. */
export function createAdminService(deps: AdminServiceDeps): AdminNetworkCalls {
  const { database, presigns } = deps;
  const { network, configured, newestNetworkEncryptionKeyId } = presigns;
  const { lowWaterCount: lowWater, highWaterCount: highWater } = presigns;
  return {
    ...createChainCalls(database, deps.chain),
    ...createInspectCalls(database),
    async getPresignHealth(request) {
      const { curve, signatureAlgorithm } = wantedBucket(request);
      const buckets = (await readPresignHealth(database, network, configured, newestNetworkEncryptionKeyId))
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
    async refillPresigns(request, context) {
      const { origin } = callerOf(context, "admin");
      const { curve, signatureAlgorithm } = wantedBucket(request);
      if (signatureAlgorithm === undefined) throw invalidField("signature_algorithm_name", "is required");
      if (curve === undefined) throw invalidField("curve_name", "is required with the chain's integer");
      const algorithm = CURVE_ALGORITHMS.find(
        (known) => known.curveNumber === curve && known.signatureAlgorithmNumber === signatureAlgorithm,
      );
      if (algorithm === undefined) {
        throw new ServiceError("UNSUPPORTED_ALGORITHM", "the curve has no such signature algorithm");
      }
      return { queued: await refillBucket(database, presigns, origin, algorithm, request.count) };
    },
  };
}

/**
 * The other calls of `tss.v1.Admin` need only the database: see `AccountCalls`, `AdminKeyCalls`,
 * `IdentityProviderCalls`, `AdminNetworkWorkCalls` and `AdminPriceCalls`.
 */
export type AdminNetworkCalls = Omit<
  ServiceImpl<typeof Admin>,
  | keyof AccountCalls
  | keyof AdminKeyCalls
  | keyof IdentityProviderCalls
  | keyof AdminNetworkWorkCalls
  | keyof AdminPriceCalls
>;

export interface AdminServiceDeps {
  readonly database: Database;
  readonly chain: FundsSource;
  readonly presigns: PresignPool;
}

/** A network's pool of presigns, and the bounds that an operator sees. */
interface PresignPool extends RefilledPool {
  /** The buckets that the configuration keeps warm. */
  readonly configured: readonly CurveAlgorithm[];
  /** A bucket with fewer presigns is refilled. */
  readonly lowWaterCount: number;
}
