import { type SignRequest, SignRequest_Status as Status } from "../../gen/client/tss/v1/signing_pb.ts";
import type { AlgorithmTriple } from "../protocol/algorithms.ts";
import { PollTimeoutError } from "../protocol/poll.ts";
import { verifySignature } from "../protocol/verify-signature.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { followSign } from "./follow-sign.ts";
import type { SignResult, SignStage } from "./sign-types.ts";

/**
 * Follows a submitted request until it completes, and verifies the signature. A failed request throws at once, with the
 * failure's reason.
 */
export async function awaitSignature(
  context: ClientContext,
  action: Action<SignStage>,
  first: SignRequest,
  expected: ExpectedSignature,
): Promise<SignResult> {
  const { signRequestId } = first;
  const completed = await untilCompleted(context, action, first);
  action.stage("verify");
  const { signature, signSessionId, txDigest } = completed;
  const { triple, message, publicKey } = expected;
  if (
    signature === undefined ||
    signSessionId === undefined ||
    !verifySignature({ ...triple, publicKey, message, signature })
  ) {
    throw new TssError("SIGNATURE_INVALID", "the signature does not verify under the dWallet's public key");
  }
  return { signature, signRequestId, signSessionId, txDigest: txDigest ?? null };
}

/** The values that a signature must verify against. They come from the caller and the chain, never from the service. */
export interface ExpectedSignature {
  readonly triple: AlgorithmTriple;
  readonly message: Uint8Array;
  readonly publicKey: Uint8Array;
}

async function untilCompleted(
  context: ClientContext,
  action: Action<SignStage>,
  first: SignRequest,
): Promise<SignRequest> {
  let reported: Status | undefined;
  for await (const request of followSign(context, action, first)) {
    if (action.remainingMs() === 0) break;
    if (request.status !== reported) {
      reported = request.status;
      if (reported === Status.queued) action.stage("queued");
      if (reported === Status.submitted) action.stage("submitted");
    }
    switch (request.status) {
      case Status.completed:
        return request;
      case Status.failed:
        throw failure(request);
      case Status.queued:
      case Status.submitted:
        break;
      default:
        throw new TssError("WRONG_STATE", "the user's half was not submitted; sign again with the same key");
    }
  }
  throw new PollTimeoutError("the time limit has passed");
}

function failure({ failure: cause, signRequestId }: SignRequest): TssError {
  return new TssError(cause?.reason ?? "NETWORK_REJECTED", cause?.message ?? "the request failed", {
    metadata: { signRequestId, refunded: String(cause?.refunded ?? false) },
  });
}
