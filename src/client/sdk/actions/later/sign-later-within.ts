import { timestampDate } from "@bufbuild/protobuf/wkt";
import {
  type SignRequest,
  SignRequest_Hold_State as State,
  SignRequest_Status as Status,
} from "../../../../../gen/client/tss/v1/signing_pb.ts";
import { PollTimeoutError } from "../../../../protocol/chain/poll.ts";
import type { Action } from "../../action.ts";
import type { ClientContext } from "../../context.ts";
import { TssError } from "../../errors.ts";
import type { CheckedSign } from "../signing/sign-args.ts";
import { failureOf, giveHalf, type SignStage } from "../signing/sign-within.ts";
import { followSign } from "../signing/watch-sign.ts";

/** Gives the half within an action that already owns the secrets, and waits until the network has verified it. */
export async function signLaterWithin(
  context: ClientContext,
  action: Action<SignStage>,
  checked: CheckedSign,
  holdSeconds: number,
): Promise<SignLaterResult> {
  const { request: first } = await giveHalf(context, action, checked, holdSeconds);
  action.stage("queued");
  for await (const request of followSign(context, action, first)) {
    if (action.remainingMs() === 0) break;
    if (request.status === Status.failed) throw failureOf(request);
    const state = request.hold?.state;
    if (state === State.held || state === State.released) return resultOf(request);
  }
  throw new PollTimeoutError("the time limit has passed");
}

/** A half that the service holds. */
export interface SignLaterResult {
  readonly signRequestId: string;
  /** When the half ends unless it is released before. */
  readonly expiresAt: Date;
  /** The digest of the transaction that sent the half to the network. */
  readonly txDigest: string | null;
}

function resultOf({ signRequestId, hold }: SignRequest): SignLaterResult {
  if (hold?.expireTime === undefined)
    throw new TssError("OUTPUT_MISMATCH", "the service does not say how long it holds the half");
  return { signRequestId, expiresAt: timestampDate(hold.expireTime), txDigest: hold.txDigest ?? null };
}
