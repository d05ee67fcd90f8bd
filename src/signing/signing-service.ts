import type { ServiceImpl } from "@connectrpc/connect";
import { Signing } from "../../gen/proto/tss/v1/signing_pb.ts";
import { callerOf } from "../access/caller.ts";
import { ServiceError } from "../errors/service-error.ts";
import { tripleOfEnums } from "./algorithm-enums.ts";
import { encodeReservation, encodeSignRequest } from "./encode-sign-request.ts";
import { idempotencyKeyOf, requestHash } from "./request-hash.ts";
import { type ReserveDeps, reserve } from "./reserve.ts";
import { readSignRequest } from "./sign-request.ts";
import { type SubmitDeps, signRequestNotFound, submit } from "./submit.ts";

/** What the Signing service needs. */
export type SigningServiceDeps = ReserveDeps & SubmitDeps;

/** Implements `tss.v1.Signing`. */
export function createSigningService(deps: SigningServiceDeps): ServiceImpl<typeof Signing> {
  return {
    async reserveSign(request, context) {
      const triple = tripleOfEnums(request.signatureAlgorithm, request.hashScheme);
      if (triple === undefined) {
        throw new ServiceError("UNSUPPORTED_ALGORITHM", "signature algorithm and hash do not go together");
      }
      const input = {
        dwalletId: request.dwalletId,
        triple,
        message: request.message,
        idempotencyKey: idempotencyKeyOf(context.requestHeader),
        requestHash: requestHash(Signing.method.reserveSign, request),
      };
      const time = { timeoutMs: context.timeoutMs(), signal: context.signal };
      return encodeReservation(await reserve(deps, callerOf(context, "project"), input, time));
    },
    async submitSign(request, context) {
      return encodeSignRequest(await submit(deps, callerOf(context, "project"), request));
    },
    async getSign({ signRequestId }, context) {
      const { projectId } = callerOf(context, "project");
      const row = await readSignRequest(deps.database, { id: signRequestId, projectId });
      if (row === undefined) throw signRequestNotFound(signRequestId);
      return encodeSignRequest(row);
    },
  };
}
