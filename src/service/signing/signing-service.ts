import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type Signing, SignRequest_Status } from "../../../gen/proto/tss/v1/signing_pb.ts";
import { callerOf } from "../access/caller.ts";
import { ServiceError } from "../platform/errors/service-error.ts";
import { idempotencyOf } from "../platform/idempotency/idempotency.ts";
import { tripleOfEnums } from "./algorithm-enums.ts";
import { createBatchedLooks } from "./batched-looks.ts";
import { encodeReservation, encodeSignRequest, encodeWatched } from "./encode-sign-request.ts";
import { cancelSign, releaseSign } from "./holds/release.ts";
import { type ReserveDeps, reserve, type SigningCaller } from "./reserve.ts";
import { listSigns, readShownSignRequest, SIGN_STATUSES, type SignStatus } from "./shown-sign-request.ts";
import { type SubmitDeps, signRequestNotFound, submit } from "./submit.ts";
import { type WaitEnding, type WatchDeps, watchSignRequest } from "./watch-sign-request.ts";

/** Implements `tss.v1.Signing`. */
export function createSigningService(deps: SigningServiceDeps): ServiceImpl<typeof Signing> {
  const watchDeps = { ...deps, looks: createBatchedLooks(deps.database, deps.clock) };
  return {
    async reserveSign(request, context) {
      const triple = tripleOfEnums(request.signatureAlgorithm, request.hashScheme);
      if (triple === undefined) {
        throw new ServiceError("UNSUPPORTED_ALGORITHM", "the signature algorithm does not support this hash");
      }
      const input = {
        dwalletId: request.dwalletId,
        triple,
        message: request.message,
        holdSeconds: request.holdSeconds,
        idempotency: idempotencyOf(context),
      };
      const time = { timeoutMs: context.timeoutMs(), signal: context.signal };
      return encodeReservation(await reserve(deps, signerOf(context), input, time));
    },
    async submitSign(request, context) {
      return encodeSignRequest(await submit(deps, signerOf(context), request));
    },
    async releaseSign({ signRequestId }, context) {
      return encodeSignRequest(await releaseSign(deps, callerOf(context, "project"), signRequestId));
    },
    async cancelSign({ signRequestId }, context) {
      return encodeSignRequest(await cancelSign(deps, callerOf(context, "project"), signRequestId));
    },
    async getSign({ signRequestId }, context) {
      const caller = callerOf(context, "project");
      const row = await readShownSignRequest(deps.database, { id: signRequestId, caller });
      if (row === undefined) throw signRequestNotFound(signRequestId);
      return encodeSignRequest(row);
    },
    watchSign({ signRequestId, cursor }, context) {
      return watchSignRequest(
        watchDeps,
        { signRequestId, caller: callerOf(context, "project"), cursor },
        (deps.untilClosing ?? signalOf)(context),
        (message) => encodeWatched(message, new Date(deps.clock.wallMs())),
      );
    },
    async listSigns({ status, ...request }, context) {
      const { dwalletId, userReference, held, pageSize, pageToken } = request;
      const input = { dwalletId, userReference, status: statusOf(status), held, pageSize, pageToken };
      const { rows, nextPageToken } = await listSigns(deps.database, callerOf(context, "project"), input);
      return { signRequests: rows.map(encodeSignRequest), nextPageToken };
    },
  };
}

export type SigningServiceDeps = ReserveDeps &
  SubmitDeps &
  Omit<WatchDeps, "looks"> & {
    /**
     * Returns the signal that ends a watch, when its call ends or the process closes. Default: only when its call ends.
     */
    readonly untilClosing?: (context: HandlerContext) => WaitEnding;
  };

/** Returns the caller of a method that the scopes `sign` and `propose` permit. */
function signerOf(context: HandlerContext): SigningCaller {
  const caller = callerOf(context, "project");
  return { ...caller, holdsOnly: !caller.scopes.includes("sign") };
}

function signalOf({ signal }: HandlerContext): AbortSignal {
  return signal;
}

/** Returns the filter by state, or undefined without one. */
function statusOf(status: SignRequest_Status | undefined): SignStatus | undefined {
  return SIGN_STATUSES.find((name) => SignRequest_Status[name] === status);
}
