import type { WorkingObject } from "../../fullnode/execution/execution-state.ts";
import { abortTreasury } from "./treasury-aborts.ts";
import { emitTreasury } from "./treasury-events.ts";
import type { TreasuryCall } from "./treasury-state.ts";
import { giveCap, treasuryOf, updateTreasury } from "./treasury-state.ts";

/** The number of epochs in which the holder of the AdminCap can stop a recovery. */
const RECOVERY_DELAY = 7n;

/** Aborts unless this is the Treasury's current AdminCap. */
export function assertAdmin(call: TreasuryCall, cap: WorkingObject): void {
  if (cap.id !== treasuryOf(call).roles.admin_cap_id)
    abortTreasury(call, "roles::check_admin", "roles:NotAdmin");
}

export function assertPauser(call: TreasuryCall): void {
  if (call.sender !== treasuryOf(call).roles.pauser)
    abortTreasury(call, "roles::check_pauser", "roles:NotPauser");
}

/**
 * Sets the pauser, and the recovery holder, who may replace a lost AdminCap. A change of the recovery holder withdraws
 * an offer that the previous one has made.
 */
export function setRoles(call: TreasuryCall, pauser: string, recovery: string): void {
  const { recovery: before, offer } = treasuryOf(call).roles;
  updateTreasury(call, ({ roles }) => Object.assign(roles, { pauser, recovery }));
  emitTreasury(call, "roles::RolesSet", { pauser, recovery });
  if (before !== recovery && offer?.is_recovery) withdrawAdminOffer(call);
}

export function offerAdmin(call: TreasuryCall, to: string): void {
  setOffer(call, to, call.epoch, false);
}

/** Offers the administration to an address because the AdminCap is lost. */
export function recoverAdmin(call: TreasuryCall, to: string): void {
  if (call.sender !== treasuryOf(call).roles.recovery)
    abortTreasury(call, "roles::recover", "roles:NotRecovery");
  setOffer(call, to, call.epoch + RECOVERY_DELAY, true);
}

export function withdrawAdminOffer(call: TreasuryCall): void {
  if (treasuryOf(call).roles.offer === null) abortTreasury(call, "roles::withdraw_offer", "roles:NotOffered");
  updateTreasury(call, ({ roles }) => {
    roles.offer = null;
  });
  emitTreasury(call, "roles::AdminOfferWithdrawn", {});
}

/** Creates a new AdminCap for the sender. Aborts unless the administration is offered to the sender. */
export function acceptAdmin(call: TreasuryCall): void {
  const { offer } = treasuryOf(call).roles;
  if (offer?.to !== call.sender) abortTreasury(call, "roles::accept", "roles:NotOffered");
  if (call.epoch < BigInt(offer!.from_epoch)) abortTreasury(call, "roles::accept", "roles:TooEarly");
  const admin_cap_id = giveCap(call, "roles::AdminCap", call.sender);
  updateTreasury(call, ({ roles }) => Object.assign(roles, { offer: null, admin_cap_id }));
  emitTreasury(call, "roles::AdminReplaced", { admin_cap_id, holder: call.sender });
}

function setOffer(call: TreasuryCall, to: string, fromEpoch: bigint, isRecovery: boolean): void {
  const offer = { to, from_epoch: fromEpoch.toString(), is_recovery: isRecovery };
  updateTreasury(call, ({ roles }) => {
    roles.offer = offer;
  });
  emitTreasury(call, "roles::AdminOffered", offer);
}

/** Stops or resumes all payments. */
export function setPaused(call: TreasuryCall, paused: boolean): void {
  updateTreasury(call, (value) => {
    value.paused = paused;
  });
  emitTreasury(call, "treasury::PauseSet", { paused, by: call.sender });
}
