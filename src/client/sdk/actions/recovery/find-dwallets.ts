import { type ActionOptions, ownSeed, runAction } from "../../action.ts";
import { checkCurve, checkSeed } from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { loadFinder } from "../load-flows.ts";
import type { FindDWalletsArgs, FindDWalletsResult, FindDWalletsStage } from "./find-dwallets-within.ts";

/**
 * Finds the dWallets whose encrypted share the chain holds under the keys that a seed derives, among those in the
 * Treasury. It asks the service only for what the client's options do not name.
 *
 * @throws {TssError} TREASURY_MISMATCH when the chain has no such Treasury.
 */
export async function findDWallets(
  context: ClientContext,
  args: FindDWalletsArgs,
  options: ActionOptions<FindDWalletsStage> = {},
): Promise<FindDWalletsResult> {
  const { seed, curve, timeoutMs = 180_000 } = args;
  checkSeed(seed);
  if (curve !== undefined) checkCurve(curve);
  return await runAction(timeoutMs, options, async (action) => {
    const own = { seed: ownSeed(action, seed), curve };
    const { findWithin } = await loadFinder(action);
    return await findWithin(context, action, own);
  });
}
