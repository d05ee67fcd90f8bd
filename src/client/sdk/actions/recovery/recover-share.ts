import { type ActionOptions, ownSeed, runAction } from "../../action.ts";
import { checkCurve, checkObjectId, checkSeed, readSessionDigest } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { loadFlows } from "../load-flows.ts";
import type { RecoverShareArgs, RecoverShareResult, RecoverShareStage } from "./recover-within.ts";

/**
 * Recovers the user's share of an Active dWallet: derives it from the seed and the DKG's session, and compares the
 * result with the dWallet on the chain.
 *
 * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
 */
export async function recoverShare(
  context: ClientContext,
  args: RecoverShareArgs,
  options: ActionOptions<RecoverShareStage> = {},
): Promise<RecoverShareResult> {
  const { seed, curve, dwalletId, timeoutMs = 180_000 } = args;
  checkSeed(seed);
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  if (args.encryptedUserSecretKeyShareId !== undefined) {
    checkObjectId("encryptedUserSecretKeyShareId", args.encryptedUserSecretKeyShareId);
  }
  return await runAction(timeoutMs, options, async (action) => {
    const own = { ...args, seed: ownSeed(action, seed) };
    action.facts["dwalletId"] = dwalletId;
    const { recoverWithin } = await loadFlows(action);
    return await recoverWithin(context, action, own);
  });
}
