import { type ActionOptions, runAction } from "./action.ts";
import { checkUuid } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { loadFlows } from "./load-flows.ts";
import type { SignResult, SignStage } from "./sign-types.ts";

/**
 * Follows a submitted request to its signature, without seed or share, and never charges. The message and the dWallet
 * come from the service; the client verifies the signature for them under the chain's public key.
 *
 * @throws {TssError} WRONG_STATE when the user's half was never submitted; call `sign` with the same arguments and
 *   idempotency key.
 */
export async function resumeSign(
  context: ClientContext,
  { signRequestId, timeoutMs = 180_000 }: ResumeSignArgs,
  options: ActionOptions<SignStage> = {},
): Promise<SignResult> {
  checkUuid("signRequestId", signRequestId);
  return await runAction(timeoutMs, options, async (action) => {
    const { resumeSignWithin } = await loadFlows(action);
    return await resumeSignWithin(context, action, signRequestId);
  });
}

/** Arguments of `resumeSign`. */
export interface ResumeSignArgs {
  /** The `signRequestId` in the error's metadata. */
  readonly signRequestId: string;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}
