import { type ActionOptions, runAction } from "./action.ts";
import { checkCurve, checkObjectId, checkSeed, readSessionDigest } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { loadFlows } from "./load-flows.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { ownSeed } from "./own-seed.ts";

/**
 * Continues an onboarding that was interrupted after its DKG request: waits for the network, derives the share again,
 * and accepts it.
 *
 * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed: a third party chose it and could
 *   sign with it.
 */
export async function resumeOnboard(
  context: ClientContext,
  { seed, curve, dwalletId, sessionDigestHex, timeoutMs = 600_000 }: ResumeOnboardArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  if (sessionDigestHex !== undefined) readSessionDigest(sessionDigestHex);
  return await runAction(timeoutMs, options, async (action) => {
    const own = ownSeed(action, seed);
    action.facts["dwalletId"] = dwalletId;
    const { completeOnboard, encodeResumeToken } = await loadFlows(action);
    const { network } = context;
    await action.resumeAt(encodeResumeToken({ kind: "onboard", network, curve, dwalletId }));
    action.stage("network");
    return await completeOnboard(context, action, { seed: own, curve, dwalletId, sessionDigestHex });
  });
}

/** Arguments of `resumeOnboard`: those of the onboarding, and the dWallet's id from its error. */
export interface ResumeOnboardArgs extends OnboardArgs {
  readonly dwalletId: string;
  /** The `sessionDigestHex` in the error's metadata. Default: ask the service, then the chain. */
  readonly sessionDigestHex?: string | undefined;
}
