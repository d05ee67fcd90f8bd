import { type SignRequest, SignRequest_Status as Status } from "../../gen/proto/tss/v1/signing_pb.ts";
import { type ActionOptions, streamAction } from "./action.ts";
import { call } from "./call.ts";
import { checkUuid } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { followSign } from "./follow-sign.ts";

/** Which sign request is watched. */
export interface WatchSignArgs {
  readonly signRequestId: string;
  /** Default 600,000. */
  readonly timeoutMs?: number | undefined;
}

/**
 * The states of a sign request as the service says them, each once, until it is completed or failed. States in between may
 * be left out; the last one never is. The signature is not verified here: `sign`, `resumeSign` and `resume` do that. Throws
 * a TssError.
 */
export async function* watchSign(
  context: ClientContext,
  { signRequestId, timeoutMs = 600_000 }: WatchSignArgs,
  options: Pick<ActionOptions, "signal" | "traceparent"> = {},
): AsyncGenerator<SignRequest, void, undefined> {
  checkUuid("signRequestId", signRequestId);
  yield* streamAction(timeoutMs, options, async function* (action) {
    action.facts["signRequestId"] = signRequestId;
    const first = await call(action, (callOptions) =>
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
