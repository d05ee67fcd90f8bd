import { type ActionOptions, ownSeed, runAction } from "../action.ts";
import { checkCurve, checkObjectId, checkSeed, readSessionDigest } from "../checks.ts";
import type { ClientContext } from "../context.ts";
import type { Curve } from "../names.ts";
import { loadFlows } from "./load-flows.ts";

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

/** The stages of a recovery, in order. */
export type RecoverShareStage = "dwallet" | "parameters" | "share";

/** Arguments of `recoverShare`. */
export interface RecoverShareArgs extends ShareSource {
  readonly dwalletId: string;
  /** The id that `onboard` returned. Default: ask the service. */
  readonly encryptedUserSecretKeyShareId?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** The arguments that recover a dWallet's share, besides the dWallet's id. */
export interface ShareSource {
  /** The 32 bytes that the dWallet was made with. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  /** The `sessionDigestHex` that `onboard` returned. Default: ask the service, then the chain. */
  readonly sessionDigestHex?: string | undefined;
  /**
   * Decrypts the share from the chain instead of deriving it from the seed. Use it only for dWallets that were made
   * before shares were derived from the seed, or by other software with this seed: the maker of such a dWallet may know
   * the share and sign with it. Default false.
   */
  readonly acceptUnverifiedShare?: boolean | undefined;
}

/** A recovered share. */
export interface RecoverShareResult {
  /** The user's secret share, in hex. Protect it like the seed. */
  readonly userSecretKeyShareHex: string;
  readonly userPublicOutputHex: string;
  readonly encryptedUserSecretKeyShareId: string;
}
