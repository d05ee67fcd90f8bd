import { create } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import {
  type ReserveSignResponse,
  ReserveSignResponseSchema,
  type SignRequest,
  SignRequest_Hold_State,
  SignRequest_Status,
  SignRequestSchema,
  type WatchSignResponse,
  WatchSignResponseSchema,
} from "../../../gen/proto/tss/v1/signing_pb.ts";
import { enumsOfTriple, tripleOfRow } from "./algorithm-enums.ts";
import type { HoldState, ShownSignRequest, StageTimes } from "./shown-sign-request.ts";
import type { SignRequestRow } from "./sign-request.ts";
import type { WatchedSign } from "./watch-sign-request.ts";

/** Encodes a row as the contract's message. Fields that do not apply to the state, or that it lacks, are absent. */
export function encodeSignRequest(row: ShownSignRequest & Partial<StageTimes>): SignRequest {
  const { submittedAt, sentAt, landedAt } = row;
  return create(SignRequestSchema, {
    signRequestId: row.id,
    status: SignRequest_Status[row.status],
    dwalletId: row.dwalletId,
    ...enumsOfTriple(tripleOfRow(row)),
    message: row.message,
    presignId: row.presignId,
    priceMicroUsd: row.priceMicroUsd,
    createTime: timestampFromDate(row.createdAt),
    updateTime: timestampFromDate(row.updatedAt),
    expireTime: timestampFromDate(row.expiresAt),
    ...(submittedAt && { submitTime: timestampFromDate(submittedAt) }),
    ...(sentAt && { sendTime: timestampFromDate(sentAt) }),
    ...(landedAt && { landTime: timestampFromDate(landedAt) }),
    ...(row.userReference !== null && { userReference: row.userReference }),
    ...(row.txDigest !== null && { txDigest: row.txDigest }),
    ...(row.signSessionId !== null && { signSessionId: row.signSessionId }),
    ...(row.signature !== null && { signature: row.signature }),
    ...(row.holdSeconds !== null && {
      hold: {
        state: holdStateOf(row),
        priceMicroUsd: row.holdPriceMicroUsd,
        ...(row.holdExpiresAt !== null && { expireTime: timestampFromDate(row.holdExpiresAt) }),
        ...(row.holdTxDigest !== null && { txDigest: row.holdTxDigest }),
      },
    }),
    ...(row.failureReason !== null && {
      failure: {
        reason: row.failureReason,
        message: row.failureMessage ?? "",
        refunded: row.refunded,
      },
    }),
  });
}

function holdStateOf({ status, holdState }: ShownSignRequest): SignRequest_Hold_State {
  if (status === "failed" && holdState !== "released") return SignRequest_Hold_State.ended;
  return holdState === null ? SignRequest_Hold_State.reserved : HOLD_STATE[holdState];
}

const HOLD_STATE: Readonly<Record<HoldState, SignRequest_Hold_State>> = {
  sending: SignRequest_Hold_State.verifying,
  verifying: SignRequest_Hold_State.verifying,
  held: SignRequest_Hold_State.held,
  released: SignRequest_Hold_State.released,
  ended: SignRequest_Hold_State.ended,
};

/**
 * Encodes the reply to a reservation. The reply for a failed request has no presign: after an expiry the presign may
 * belong to another request, and a half computed with it would be lost.
 */
export function encodeReservation(row: SignRequestRow): ReserveSignResponse {
  const isUsable = row.status !== "failed";
  return create(ReserveSignResponseSchema, {
    signRequestId: row.id,
    status: SignRequest_Status[row.status],
    presignId: row.presignId,
    presign: isUsable ? row.presign : new Uint8Array(),
    dwalletPublicOutput: row.dwalletPublicOutput,
    expireTime: timestampFromDate(row.expiresAt),
    priceMicroUsd: row.priceMicroUsd,
    ...(row.holdSeconds !== null && { holdSeconds: row.holdSeconds }),
  });
}

/** Encodes a message of a watch, with the time at which it is written. */
export function encodeWatched({ row, cursor }: WatchedSign, time: Date): WatchSignResponse {
  return create(WatchSignResponseSchema, {
    ...(row && { signRequest: encodeSignRequest(row) }),
    cursor,
    time: timestampFromDate(time),
  });
}
