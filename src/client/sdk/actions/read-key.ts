import { type ActionOptions, ownSeed, runAction } from "../action.ts";
import { checkCurve, checkObjectId, checkSeed, readSessionDigest } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import { loadFlows } from "./load-flows.ts";
import type { ReadKeyArgs, ReadKeyResult, ReadKeyStage } from "./recovery/recover-within.ts";

/**
 * Reads the public key of an Active dWallet from the chain, never from the service, and proves it when the seed is
 * given. The client caches the dWallet.
 *
 * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
 * @throws {TssError} SHARE_MISMATCH when the given share does not lead to the public key.
 */
export async function readKey(
  context: ClientContext,
  args: ReadKeyArgs,
  options: ActionOptions<ReadKeyStage> = {},
): Promise<ReadKeyResult> {
  const { dwalletId, curve, seed, timeoutMs = 180_000 } = args;
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  if (seed !== undefined) checkSeed(seed);
  if (args.sessionDigestHex !== undefined) readSessionDigest(args.sessionDigestHex);
  return await runAction(timeoutMs, options, async (action) => {
    const own = seed && ownSeed(action, seed);
    action.facts["dwalletId"] = dwalletId;
    const given = { ...args };
    const { readKeyWithin } = await loadFlows(action);
    return await readKeyWithin(context, action, given, own);
  });
}
