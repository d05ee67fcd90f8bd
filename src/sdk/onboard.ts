import { type ActionOptions, runAction } from "./action.ts";
import { checkCurve, checkSeed } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { loadFlows } from "./load-flows.ts";
import type { Curve, Network } from "./names.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { ownSeed } from "./own-seed.ts";
import type { OnboardPoint } from "./resume-token.ts";

/**
 * Makes a dWallet whose user half comes from this process and whose other half stays with the network: registers the
 * user's encryption key, prepares and requests the DKG, waits for the network, checks its output and accepts it.
 *
 * Errors that `resume` can continue from have a `resumeToken`, from the first call on: the client chooses the DKG's
 * session before that call, and the service makes one dWallet per session.
 *
 * @throws {TssError} OUTPUT_MISMATCH when the network's output does not match the user's half; onboard again.
 */
export async function onboard(
  context: ClientContext,
  { seed, curve, timeoutMs = 600_000 }: OnboardArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  const point = newOnboardPoint(context.network, curve);
  return await runAction(timeoutMs, options, async (action) => {
    const own = ownSeed(action, seed);
    const { makeDWallet } = await loadFlows(action);
    return await makeDWallet(context, action, own, point);
  });
}

/** Creates the starting point of an onboarding: 32 random bytes name its DKG session. */
export function newOnboardPoint(network: Network, curve: Curve): SessionPoint {
  const sessionIdentifier = globalThis.crypto.getRandomValues(new Uint8Array(32));
  return { kind: "onboard", network, curve, sessionIdentifier };
}

/** An onboarding with a chosen session. */
export type SessionPoint = OnboardPoint & { readonly sessionIdentifier: Uint8Array };
