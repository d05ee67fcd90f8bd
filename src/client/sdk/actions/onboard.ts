import type { NamedAddress } from "../../../protocol/signatures/addresses.ts";
import { type ActionOptions, ownSeed, runAction } from "../action.ts";
import { checkCurve, checkDWalletName, checkObjectId, checkSeed, readSessionDigest } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import type { Curve, Network } from "../names.ts";
import { loadFlows } from "./load-flows.ts";
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
function newOnboardPoint(network: Network, curve: Curve): SessionPoint {
  const sessionIdentifier = globalThis.crypto.getRandomValues(new Uint8Array(32));
  return { kind: "onboard", network, curve, sessionIdentifier };
}

/** An onboarding with a chosen session. */
export type SessionPoint = OnboardPoint & { readonly sessionIdentifier: Uint8Array };

/** The stages of an onboarding, in order. */
export type OnboardStage =
  | "network"
  | "parameters"
  | "keys"
  | "register"
  | "prepare"
  | "create"
  | "dkg"
  | "accept"
  | "activate";

/** Arguments of `onboard`. */
export interface OnboardArgs {
  /** The root of the user's keys, 32 bytes. The seed never leaves this process, and the client does not keep it. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  /** The time limit of the action, in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
}

/** A dWallet that is ready to sign. */
export interface OnboardResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key from the chain, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** The public key's addresses on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
  /** The user's secret share, in hex. Protect it like the seed. The seed and `sessionDigestHex` derive it again. */
  readonly userSecretKeyShareHex: string;
  readonly userPublicOutputHex: string;
  readonly encryptedUserSecretKeyShareId: string;
  /**
   * The digest of the DKG's session identifier, from which the share is derived. It is public. Keep it with the
   * dWallet's id: it recovers the share without the service, even after the fullnodes have pruned the DKG's
   * transaction.
   */
  readonly sessionDigestHex: string;
  /**
   * The digests of the transactions that requested the DKG and accepted the share. `accept` is null when another sender
   * accepted it.
   */
  readonly txDigests: { readonly onboard: string; readonly accept: string | null };
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

/** Arguments of `resumeOnboard`: those of the onboarding, and the dWallet's id from its error. */
export interface ResumeOnboardArgs extends OnboardArgs {
  readonly dwalletId: string;
  /** The `sessionDigestHex` in the error's metadata. Default: ask the service, then the chain. */
  readonly sessionDigestHex?: string | undefined;
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
