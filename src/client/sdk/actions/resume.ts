import { type Action, type ActionOptions, ownSeed, runAction } from "../action.ts";
import { checkPrivateKey, checkSeed, checkTimeout, readSessionDigest } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import { loadFlows } from "./load-flows.ts";
import type { OnboardStage } from "./onboard-within.ts";
import type { ResumeArgs, ResumeResult } from "./resume-within.ts";
import type { SignStage } from "./signing/sign-within.ts";

/**
 * Continues the action of a token, in this or another process. However often it is resumed, the action makes one
 * dWallet or one signature and is charged once. The client does not trust the token: a share must follow from the seed,
 * and a signature must verify under the chain's public key, over the message whose digest the token contains. But the
 * token names the dWallet and the algorithm that sign: if it comes from a third party, pass these too, to have them
 * compared.
 *
 * @throws {TssError} VALIDATION when the token is malformed, of another version or network, or does not match the
 *   message, dWallet or algorithm, and when a required argument is missing; `metadata.field` names it.
 */
export async function resume(
  context: ClientContext,
  token: string,
  args: ResumeArgs = {},
  options: ActionOptions<OnboardStage | SignStage> = {},
): Promise<ResumeResult> {
  const { timeoutMs = 600_000 } = args;
  checkTimeout(timeoutMs);
  if (args.seed !== undefined) checkSeed(args.seed);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  if (args.privateKey !== undefined) checkPrivateKey(args.privateKey);
  return await runAction(timeoutMs, options, async (action) => {
    const own = ownResumeArgs(action, args);
    const { resumeWithin } = await loadFlows(action);
    return await resumeWithin(context, action, token, own);
  });
}

/** Copies the arguments, so that later changes to the caller's buffers have no effect. */
function ownResumeArgs(action: Action, args: ResumeArgs): ResumeArgs {
  const { seed, message, privateKey } = args;
  return {
    ...args,
    ...(seed !== undefined && { seed: ownSeed(action, seed) }),
    ...(privateKey !== undefined && { privateKey: ownSeed(action, privateKey) }),
    ...(message instanceof Uint8Array && { message: Uint8Array.from(message) }),
  };
}
