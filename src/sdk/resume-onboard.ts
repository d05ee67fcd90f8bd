import { addressesOfKey } from "../protocol/addresses.ts";
import { bytesToHex } from "../protocol/bytes.ts";
import { publicKeyFromDWalletOutput, userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type ActionOptions, runAction } from "./action.ts";
import { call } from "./call.ts";
import { checkCurve, checkObjectId, checkSeed, readSessionDigest } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { acceptShare, awaitDkg } from "./finish-onboard.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { openSeedShare } from "./seed-share.ts";

/** What resuming takes: the arguments of the onboarding and the id that its error named. */
export interface ResumeOnboardArgs extends OnboardArgs {
  readonly dwalletId: string;
  /** What the error's metadata has under this name. If absent, the service is asked for it, and then the chain. */
  readonly sessionDigestHex?: string | undefined;
}

/**
 * Goes on with an onboarding that was interrupted after its DKG was requested: waits for the network, derives the
 * share again, and accepts it. A dWallet whose share is not derived from the seed is refused as SHARE_UNVERIFIED,
 * whoever made it: its share came from somebody else, who could sign with it. Throws a TssError.
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
    action.facts["dwalletId"] = dwalletId;
    action.stage("network");
    const created = await call(action, (callOptions) =>
      context.raw.onboarding.getDWallet({ dwalletId }, callOptions),
    );
    action.stage("dkg");
    const dwallet = await awaitDkg(context, action, dwalletId, curve);
    const { networkEncryptionKeyId } = dwallet;
    action.stage("parameters");
    await context.engine.ready();
    const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
    action.stage("prepare");
    const request = { seed, curve, dwallet, parameters, sessionDigestHex };
    const { share, sessionDigest } = await openSeedShare(context, action, request);
    action.own(share);
    action.stage("keys");
    const keys = action.own(await context.engine.deriveUserKeys({ seed, curve, signal: action.signal }));
    const { encryptedUserSecretKeyShareId } = created;
    const accept = await acceptShare(context, action, {
      keys,
      dwallet,
      parameters,
      userSecretKeyShare: share.reveal(),
      encryptedUserSecretKeyShareId,
    });
    const publicKey = publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput);
    return {
      dwallet: { id: dwalletId, curve },
      publicKeyHex: bytesToHex(publicKey),
      addresses: addressesOfKey(curve, publicKey),
      userSecretKeyShareHex: bytesToHex(share.reveal()),
      userPublicOutputHex: bytesToHex(userPublicOutputFromDWalletOutput(curve, dwallet.state.publicOutput)),
      encryptedUserSecretKeyShareId,
      sessionDigestHex: bytesToHex(sessionDigest),
      txDigests: { onboard: created.txDigest, accept },
    };
  });
}
