import { type ActionOptions, runAction } from "./action.ts";
import { checkCurve, checkDWalletName, checkSeed } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { loadFlows } from "./load-flows.ts";
import { newOnboardPoint } from "./onboard.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { ownSeed } from "./own-seed.ts";

/**
 * Returns the project's dWallet of a name, or makes it if there is none. Concurrent callers, in any process, get the
 * same dWallet, and only one pays. The client does not trust the name: it derives the share from the seed and compares
 * it with the chain.
 *
 * @throws {TssError} SHARE_UNVERIFIED when the dWallet was made from another seed.
 * @throws {TssError} OUTPUT_MISMATCH when the dWallet is on another curve.
 */
export async function getOrCreate(
  context: ClientContext,
  { seed, curve, name, timeoutMs = 600_000 }: GetOrCreateArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  checkDWalletName(name);
  const point = { ...newOnboardPoint(context.network, curve), name };
  return await runAction(timeoutMs, options, async (action) => {
    const own = ownSeed(action, seed);
    const { getOrMake } = await loadFlows(action);
    return await getOrMake(context, action, own, point);
  });
}

/** Arguments of `getOrCreate`. */
export interface GetOrCreateArgs extends OnboardArgs {
  /**
   * The dWallet's name in the project: 1 to 128 characters, no control characters, no leading space. The service can
   * read it.
   */
  readonly name: string;
}
