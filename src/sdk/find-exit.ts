import { dwalletExits } from "../protocol/treasury-exits.ts";
import type { Action } from "./action.ts";
import type { ClientContext } from "./context.ts";
import type { LeaveArgs, LeaveResult } from "./custody-actions.ts";
import { TssError } from "./errors.ts";
import { DWALLET_CAP } from "./object-kinds.ts";
import type { TreasuryCustody } from "./read-custody.ts";
import { readChainDWallet } from "./read-dwallet.ts";

/**
 * Finds the exit of a dWallet that the Treasury does not hold. Succeeds if all fullnodes report that the recipient owns
 * the capability, or if the owner's exit gave it to the recipient, who may have transferred it since.
 *
 * Throws DWALLET_LEFT, with the capability's owner, if it went to another address.
 */
export async function findExit(
  context: ClientContext,
  action: Action,
  { treasuryId, nonceEntryId }: TreasuryCustody,
  { dwalletId, recipient }: Pick<LeaveArgs, "dwalletId" | "recipient">,
): Promise<LeaveResult> {
  const { dwalletCapId } = await readChainDWallet(context, action, dwalletId);
  const owner = await context.ownerOf(action, DWALLET_CAP, dwalletCapId);
  const last = await context.lastChange(action, nonceEntryId);
  const exit = dwalletExits(last?.events ?? []).find(
    (one) => one.treasuryId === treasuryId && one.dwalletId === dwalletId && one.recipient === recipient,
  );
  if (owner === recipient || exit?.dwalletCapId === dwalletCapId) {
    return {
      transactionDigest: exit === undefined ? null : (last?.digest ?? null),
      ...{ dwalletCapId, dwalletId, recipient },
    };
  }
  throw new TssError("DWALLET_LEFT", "the dWallet has left, and its capability is not the recipient's", {
    metadata: { dwalletId, treasuryId, owner: owner ?? "" },
  });
}
