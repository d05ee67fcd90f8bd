import { bytesToHex } from "../protocol/bytes.ts";
import { userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import { type ActionOptions, runAction } from "./action.ts";
import { call } from "./call.ts";
import { checkCurve, checkObjectId, checkSeed } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { acceptShare, awaitDkg } from "./finish-onboard.ts";
import type { OnboardArgs, OnboardResult, OnboardStage } from "./onboard-types.ts";
import { openShare } from "./open-share.ts";

/** What resuming takes: the arguments of the onboarding and the id that its error named. */
export interface ResumeOnboardArgs extends OnboardArgs {
  readonly dwalletId: string;
}

/**
 * Goes on with an onboarding that was interrupted after its DKG was requested: waits for the network, recovers the
 * share from its encryption on the chain, and accepts it. The user's own output is gone with the first process; that
 * the decrypted share fits the network's output proves the same. Throws a TssError.
 */
export async function resumeOnboard(
  context: ClientContext,
  { seed, curve, dwalletId, timeoutMs = 600_000 }: ResumeOnboardArgs,
  options: ActionOptions<OnboardStage> = {},
): Promise<OnboardResult> {
  checkSeed(seed);
  checkCurve(curve);
  checkObjectId("dwalletId", dwalletId);
  return await runAction(timeoutMs, options, async (action) => {
    action.facts["dwalletId"] = dwalletId;
    action.stage("network");
    const created = await call(action, (callOptions) =>
      context.raw.onboarding.getDWallet({ dwalletId }, callOptions),
    );
    action.stage("dkg");
    const dwallet = await awaitDkg(context, action, dwalletId, curve);
    const { networkEncryptionKeyId } = dwallet;
    const { publicOutput } = dwallet.state;
    action.stage("parameters");
    await context.engine.ready();
    await context.parameters.load(action, { curve, networkEncryptionKeyId });
    action.stage("keys");
    const keys = action.own(await context.engine.deriveUserKeys({ seed, curve }));
    action.stage("prepare");
    const { encryptedUserSecretKeyShareId } = created;
    const reference = { dwalletId, networkEncryptionKeyId, publicOutput, encryptedUserSecretKeyShareId };
    const share = action.own(await openShare(context, action, keys, reference));
    const accept = await acceptShare(
      context,
      action,
      keys,
      dwallet,
      share.reveal(),
      encryptedUserSecretKeyShareId,
    );
    return {
      dwallet: { id: dwalletId, curve },
      userSecretKeyShareHex: bytesToHex(share.reveal()),
      userPublicOutputHex: bytesToHex(userPublicOutputFromDWalletOutput(curve, publicOutput)),
      encryptedUserSecretKeyShareId,
      txDigests: { onboard: created.txDigest, accept },
    };
  });
}
