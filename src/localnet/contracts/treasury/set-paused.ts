import type { TreasuryCall } from "./treasury-call.ts";
import { emitTreasury } from "./treasury-events.ts";
import { updateTreasury } from "./treasury-state.ts";

/** Stops or resumes all payments. */
export function setPaused(call: TreasuryCall, paused: boolean): void {
  updateTreasury(call, (value) => {
    value.paused = paused;
  });
  emitTreasury(call, "treasury::PauseSet", { paused, by: call.sender });
}
