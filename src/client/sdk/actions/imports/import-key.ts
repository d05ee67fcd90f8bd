import { type ActionOptions, ownSeed, runAction } from "../../action.ts";
import {
  checkCurve,
  checkDWalletName,
  checkPrivateKey,
  checkSeed,
  checkUserReference,
} from "../../checks.ts";
import type { ClientContext } from "../../context.ts";
import { loadFlows } from "../load-flows.ts";
import { newOnboardPoint } from "../onboard.ts";
import type { OnboardResult, OnboardStage } from "../onboard-within.ts";
import type { ImportKeyArgs } from "./import-within.ts";

/**
 * Makes a dWallet of a key that the user had before. Splits the key between the user and the network: the user's share
 * follows from the seed, as in `onboard`. The client accepts only a dWallet whose public key is the private key's.
 *
 * Errors that `resume` can continue from have a `resumeToken`, from the first call on.
 *
 * @throws {TssError} OUTPUT_MISMATCH when the network's output is of another key; do not use the dWallet.
 */
export async function importKey(
  context: ClientContext,
  { seed, curve, privateKey, name, userReference, timeoutMs = 600_000 }: ImportKeyArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  checkPrivateKey(privateKey);
  if (name !== undefined) checkDWalletName(name);
  checkUserReference(userReference);
  const point = { ...newOnboardPoint(context.network, curve), kind: "import", name, userReference } as const;
  return await runAction(timeoutMs, options, async (action) => {
    const own = { seed: ownSeed(action, seed), privateKey: ownSeed(action, privateKey) };
    const { importWithin } = await loadFlows(action);
    return await importWithin(context, action, own, point);
  });
}
