import { type ActionOptions, ownSeed, runAction } from "../action.ts";
import {
  checkCurve,
  checkDWalletName,
  checkObjectId,
  checkSeed,
  checkUserReference,
  readSessionDigest,
} from "../checks.ts";
import type { ClientContext } from "../context.ts";
import type { Curve, Network } from "../names.ts";
import { loadFlows } from "./load-flows.ts";
import type {
  OnboardArgs,
  OnboardResult,
  OnboardStage,
  ResumeOnboardArgs,
  SessionPoint,
} from "./onboard-within.ts";

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
  { seed, curve, userReference, timeoutMs = 600_000 }: OnboardArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  checkUserReference(userReference);
  const point = { ...newOnboardPoint(context.network, curve), userReference };
  return await runAction(timeoutMs, options, async (action) => {
    const own = ownSeed(action, seed);
    const { makeDWallet } = await loadFlows(action);
    return await makeDWallet(context, action, own, point);
  });
}

/** Creates the starting point of an onboarding: 32 random bytes name its session. */
export function newOnboardPoint(network: Network, curve: Curve): SessionPoint & { readonly kind: "onboard" } {
  const sessionIdentifier = globalThis.crypto.getRandomValues(new Uint8Array(32));
  return { kind: "onboard", network, curve, sessionIdentifier };
}

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
  { seed, curve, name, userReference, timeoutMs = 600_000 }: GetOrCreateArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  checkDWalletName(name);
  checkUserReference(userReference);
  const point = { ...newOnboardPoint(context.network, curve), name, userReference };
  return await runAction(timeoutMs, options, async (action) => {
    const own = ownSeed(action, seed);
    const { getOrMake } = await loadFlows(action);
    return await getOrMake(context, action, own, point);
  });
}

/** Arguments of `getOrCreate`. */
export interface GetOrCreateArgs extends OnboardArgs {
  /**
   * The dWallet's name, which another user's dWallet may have too: 1 to 128 characters, no control characters, no
   * leading space. The service can read it.
   */
  readonly name: string;
}
