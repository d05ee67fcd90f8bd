import type { ChainDWallet } from "../protocol/chain-objects.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import { TssError } from "./errors.ts";
import { DWALLET_CAP } from "./object-kinds.ts";
import { readTreasuryCustody } from "./read-custody.ts";

/**
 * Checks that the user can take a new dWallet out of the service: the Treasury holds its capability and records the
 * user as its owner. No other check of an onboarding implies this. The user's share and the encrypted share prove whose
 * key it is, but not who holds the capability: a service could request the DKG with a wallet of its own and keep the
 * capability.
 *
 * The capability's id comes from the dWallet, whose type only Ika's package can create. Sui itself records which object
 * owns the capability. This function does not check the code of the Treasury's package: see the threat model.
 *
 * Throws CUSTODY_MISMATCH.
 */
export async function checkCustody(
  context: Pick<ClientContext, "chainReader" | "ownerOf" | "treasuryId">,
  action: Action,
  dwallet: Pick<ChainDWallet, "id" | "dwalletCapId">,
  signerAddress: string,
): Promise<void> {
  const treasuryId = await context.treasuryId(action);
  const custody = await readTreasuryCustody(context, action, treasuryId, dwallet.id);
  const mismatch = (message: string) =>
    new TssError("CUSTODY_MISMATCH", `${message}; do not use this dWallet`, {
      metadata: { dwalletId: dwallet.id, treasuryId },
    });
  if (custody.held === undefined) throw mismatch("the Treasury does not hold the dWallet's capability");
  if (custody.held.owner !== signerAddress)
    throw mismatch("the Treasury records another owner than the user");
  const holder = await context.ownerOf(action, DWALLET_CAP, dwallet.dwalletCapId);
  if (custody.held.dwalletCapId !== dwallet.dwalletCapId || holder !== custody.capEntryId)
    throw mismatch("the dWallet's capability is not in the Treasury");
}
