import type { SecretBytes } from "../crypto/secret-bytes.ts";
import { bytesToHex } from "../protocol/bytes.ts";
import { userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type Action, type ActionOptions, runAction } from "./action.ts";
import { call } from "./call.ts";
import { checkCurve, checkObjectId, checkSeed, readSessionDigest } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import type { Curve } from "./names.ts";
import { openShare } from "./open-share.ts";
import { ownSeed } from "./own-seed.ts";
import { type CompletedDWallet, readActiveDWallet } from "./read-dwallet.ts";
import { openSeedShare } from "./seed-share.ts";

/** The stages of a recovery, in order. */
export type RecoverShareStage = "dwallet" | "parameters" | "share";

/** What a recovery takes. */
export interface RecoverShareArgs extends ShareSource {
  readonly dwalletId: string;
  /** If absent, the service is asked for it. */
  readonly encryptedUserSecretKeyShareId?: string | undefined;
  /** Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** What a share is recovered from, beside the dWallet. */
export interface ShareSource {
  /** The 32 bytes that the dWallet was made with. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  /** What `onboard` returned under this name. If absent, the service is asked for it, and then the chain. */
  readonly sessionDigestHex?: string | undefined;
  /**
   * Takes the share out of its encryption on the chain instead of deriving it from the seed. Only for dWallets that
   * were made before shares were derived, or by other software with this seed: whoever made such a dWallet may know
   * the share and sign with it. Default false.
   */
  readonly acceptUnverifiedShare?: boolean | undefined;
}

/** A recovered share. */
export interface RecoverShareResult {
  /** The user's secret: keep it like the seed. */
  readonly userSecretKeyShareHex: string;
  readonly userPublicOutputHex: string;
  readonly encryptedUserSecretKeyShareId: string;
}

/**
 * Recovers the user's share of an Active dWallet: derives it from the seed and the DKG's session, and compares what
 * follows from it with the dWallet on the chain. Throws a TssError; SHARE_UNVERIFIED for a share that the seed does not
 * imply.
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
    const own = ownSeed(action, seed);
    action.facts["dwalletId"] = dwalletId;
    action.stage("dwallet");
    const dwallet = await readActiveDWallet(context, action, dwalletId, curve);
    const encryptedUserSecretKeyShareId =
      args.encryptedUserSecretKeyShareId ?? (await askForShareId(context, action, dwalletId));
    action.stage("parameters");
    await context.engine.ready();
    const { networkEncryptionKeyId } = dwallet;
    const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
    action.stage("share");
    const source = { ...args, seed: own, encryptedUserSecretKeyShareId };
    const share = await recoverFrom(context, action, source, dwallet, parameters);
    return {
      userSecretKeyShareHex: bytesToHex(share.reveal()),
      userPublicOutputHex: bytesToHex(userPublicOutputFromDWalletOutput(curve, dwallet.state.publicOutput)),
      encryptedUserSecretKeyShareId,
    };
  });
}

/** The share of an Active dWallet, which the action destroys at its end. */
export async function recoverFrom(
  context: ClientContext,
  action: Action,
  source: ShareSource & { readonly encryptedUserSecretKeyShareId?: string | undefined },
  dwallet: CompletedDWallet,
  parameters: Uint8Array,
): Promise<SecretBytes> {
  const { seed, curve, sessionDigestHex } = source;
  if (source.acceptUnverifiedShare !== true) {
    const request = { seed, curve, dwallet, parameters, sessionDigestHex };
    return action.own((await openSeedShare(context, action, request)).share);
  }
  const shareId = source.encryptedUserSecretKeyShareId ?? (await askForShareId(context, action, dwallet.id));
  const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal: action.signal }));
  return action.own(await openShare(context, action, keys, dwallet, shareId));
}

async function askForShareId(context: ClientContext, action: Action, dwalletId: string): Promise<string> {
  const row = await call(action, (options) => context.raw.onboarding.getDWallet({ dwalletId }, options));
  return row.encryptedUserSecretKeyShareId;
}
