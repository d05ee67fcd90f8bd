import { bytesToHex } from "@noble/hashes/utils.js";
import { addressesOfKey } from "../protocol/addresses.ts";
import { publicKeyFromDWalletOutput, userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import { acceptShare, awaitDkg } from "./finish-onboard.ts";
import type { OnboardResult, OnboardStage } from "./onboard-types.ts";
import type { ResumeOnboardArgs } from "./resume-onboard.ts";
import { openSeedShare } from "./seed-share.ts";

/**
 * Completes a dWallet whose DKG was requested: waits for the network, derives the share from the seed, and accepts it.
 * It trusts neither the maker of the dWallet nor the source of its id: a share that does not follow from the seed is
 * SHARE_UNVERIFIED. An Active dWallet is already accepted.
 */
export async function completeOnboard(
  context: ClientContext,
  action: Action<OnboardStage>,
  { seed, curve, dwalletId, sessionDigestHex }: ResumeOnboardArgs,
): Promise<OnboardResult> {
  action.facts["dwalletId"] = dwalletId;
  const created = await context.call(action, (callOptions) =>
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
  const accept =
    dwallet.state.kind === "Active"
      ? (created.acceptTxDigest ?? null)
      : await acceptShare(context, action, {
          keys,
          dwallet,
          parameters,
          userSecretKeyShare: share,
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
}
