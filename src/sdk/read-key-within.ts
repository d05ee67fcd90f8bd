import { bytesToHex } from "@noble/hashes/utils.js";
import { SecretBytes } from "../crypto/secret-bytes.ts";
import { addressesOfKey } from "../protocol/addresses.ts";
import { publicKeyFromDWalletOutput } from "../protocol/dwallet-output.ts";
import type { Action } from "./action.ts";
import { readSecretHex } from "./checks.ts";
import type { ClientContext } from "./context.ts";
import { openFittingShare } from "./fitting-share.ts";
import { readActiveDWallet } from "./read-dwallet.ts";
import type { ReadKeyArgs, ReadKeyResult, ReadKeyStage } from "./read-key.ts";

/** Reads a key within an action, and proves it when there is a seed. `own` is the action's copy of the seed. */
export async function readKeyWithin(
  context: ClientContext,
  action: Action<ReadKeyStage>,
  args: ReadKeyArgs,
  own: Uint8Array | undefined,
): Promise<ReadKeyResult> {
  const { dwalletId, curve, userSecretKeyShareHex: shareHex } = args;
  action.stage("dwallet");
  const dwallet = await readActiveDWallet(context, action, dwalletId, curve);
  if (own !== undefined) {
    const given =
      shareHex === undefined
        ? undefined
        : action.own(new SecretBytes(readSecretHex("userSecretKeyShareHex", shareHex)));
    await openFittingShare(context, action, dwallet, { ...args, seed: own }, given);
  }
  const publicKey = publicKeyFromDWalletOutput(curve, dwallet.state.publicOutput);
  return {
    dwallet: { id: dwalletId, curve },
    publicKeyHex: bytesToHex(publicKey),
    addresses: addressesOfKey(curve, publicKey),
  };
}
