import { bytesToHex } from "@noble/hashes/utils.js";
import type { SecretBytes } from "../crypto/secret-bytes.ts";
import { userPublicOutputFromDWalletOutput } from "../protocol/dwallet-output.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import { openShare } from "./open-share.ts";
import { type CompletedDWallet, readActiveDWallet } from "./read-dwallet.ts";
import type {
  RecoverShareArgs,
  RecoverShareResult,
  RecoverShareStage,
  ShareSource,
} from "./recover-share.ts";
import { openSeedShare } from "./seed-share.ts";

/** Recovers a share within an action. The arguments contain the action's copy of the seed. */
export async function recoverWithin(
  context: ClientContext,
  action: Action<RecoverShareStage>,
  args: RecoverShareArgs,
): Promise<RecoverShareResult> {
  const { curve, dwalletId } = args;
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, curve);
  const encryptedUserSecretKeyShareId =
    args.encryptedUserSecretKeyShareId ?? (await askForShareId(context, action, dwalletId));
  action.stage("parameters");
  await context.engine.ready();
  const { networkEncryptionKeyId } = dwallet;
  const parameters = await context.parameters.load(action, { curve, networkEncryptionKeyId });
  action.stage("share");
  const source = { ...args, encryptedUserSecretKeyShareId };
  const share = await recoverFrom(context, action, source, dwallet, parameters);
  return {
    userSecretKeyShareHex: bytesToHex(share.reveal()),
    userPublicOutputHex: bytesToHex(userPublicOutputFromDWalletOutput(curve, dwallet.state.publicOutput)),
    encryptedUserSecretKeyShareId,
  };
}

/** Returns the share of an Active dWallet. The action destroys it when it ends. */
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
  const row = await context.call(action, (options) =>
    context.raw.onboarding.getDWallet({ dwalletId }, options),
  );
  return row.encryptedUserSecretKeyShareId;
}
