import { type SignRequest, SignRequest_Status as Status } from "../../gen/client/tss/v1/signing_pb.ts";
import { type ActionOptions, streamAction } from "./action.ts";
import { checkUuid } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { followSign } from "./follow-sign.ts";

/**
 * Yields each state of a sign request once, as the service reports it, until the request completes or fails.
 * Intermediate states may be missing; the last one never is. It does not verify the signature; `sign`, `resumeSign` and
 * `resume` do.
 *
 * @throws {TssError} VALIDATION when the id is malformed.
 */
export async function* watchSign(
  context: ClientContext,
  { signRequestId, timeoutMs = 600_000 }: WatchSignArgs,
  options: Pick<ActionOptions, "signal" | "traceparent"> = {},
): AsyncGenerator<SignRequest, void, undefined> {
  checkUuid("signRequestId", signRequestId);
  yield* streamAction(timeoutMs, options, async function* (action) {
    action.facts["signRequestId"] = signRequestId;
    const first = await context.call(action, (callOptions) =>
      context.raw.signing.getSign({ signRequestId }, callOptions),
    );
    const seen = new Set<Status>();
    for await (const request of followSign(context, action, first)) {
      const { status } = request;
      if (seen.has(status)) continue;
      seen.add(status);
      yield request;
      if (status === Status.completed || status === Status.failed) return;
    }
  });
}

/** Arguments of `watchSign`. */
export interface WatchSignArgs {
  readonly signRequestId: string;
  /** The time limit of the action, in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
}
