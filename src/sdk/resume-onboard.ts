import { type ActionOptions, runAction } from "./action.ts";
import { checkCurve, checkObjectId, checkSeed, readSessionDigest } from "./checks.ts";
import { completeOnboard } from "./complete-onboard.ts";
import type { ClientContext } from "./context.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { ownSeed } from "./own-seed.ts";

/** What resuming takes: the arguments of the onboarding and the id that its error named. */
export interface ResumeOnboardArgs extends OnboardArgs {
  readonly dwalletId: string;
  /** What the error's metadata has under this name. If absent, the service is asked for it, and then the chain. */
  readonly sessionDigestHex?: string | undefined;
}

/**
 * Goes on with an onboarding that was interrupted after its DKG was requested: waits for the network, derives the
 * share again, and accepts it. A dWallet whose share is not derived from the seed is refused as SHARE_UNVERIFIED,
 * whoever made it: its share came from somebody else, who could sign with it. Throws a TssError.
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
    await action.resumeAt({ kind: "onboard", network: context.network, curve, dwalletId });
    action.stage("network");
    return await completeOnboard(context, action, { seed: own, curve, dwalletId, sessionDigestHex });
  });
}
