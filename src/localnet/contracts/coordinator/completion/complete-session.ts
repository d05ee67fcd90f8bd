import { SessionsManagerModule } from "@ika.xyz/sdk";
import type { ExecutionState } from "../../../fullnode/execution/execution-state.ts";
import { idName, removeField, removeObject, u64Name } from "../../../fullnode/objects/dynamic-fields.ts";
import type { MpcOutcome } from "../../../mpc/engine.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { updateInner } from "../coordinator-state.ts";
import { increment } from "../sessions.ts";
import { completeDkg, completeImportedKey } from "./complete-dkg.ts";
import { completeEncryptedShare, completePublicShare } from "./complete-share.ts";
import { completeFutureSign, completePresign, completeSign } from "./complete-sign.ts";
import type { WaitingSession } from "./requested-session.ts";

/**
 * Writes the network's verdict on a session: the new state of the requested object, the session's removal, the fees to
 * the network, and the result event.
 */
export function completeSession(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: WaitingSession,
  outcome: MpcOutcome,
): void {
  closeSession(state, addresses, session);
  switch (session.kind) {
    case "dkg":
      completeDkg(state, addresses, session, outcome);
      return;
    case "importedKey":
      completeImportedKey(state, addresses, session, outcome);
      return;
    case "encryptedShare":
      completeEncryptedShare(state, addresses, session, outcome);
      return;
    case "publicShare":
      completePublicShare(state, addresses, session, outcome);
      return;
    case "presign":
      completePresign(state, addresses, session, outcome);
      return;
    case "futureSign":
      completeFutureSign(state, addresses, session, outcome);
      return;
    case "sign":
      completeSign(state, addresses, session, outcome);
  }
}

/** Removes the session and its event, and transfers its payment to the network. */
function closeSession(state: ExecutionState, addresses: NetworkAddresses, session: WaitingSession): void {
  updateInner(state, addresses, (inner) => {
    const manager = inner.sessions_manager;
    const keeper = manager.user_sessions_keeper;
    const object = removeObject(state, keeper.sessions, u64Name(session.sequenceNumber));
    const paid = state.read(object, SessionsManagerModule.DWalletSession);
    removeField(state, keeper.session_events, idName(session.fields.session_object_id));
    state.remove(object);
    keeper.completed_sessions_count = increment(keeper.completed_sessions_count);
    const fees = inner.pricing_and_fee_manager;
    const held = fees.gas_fee_reimbursement_sui_system_call_balance;
    fees.fee_charged_ika.value = add(fees.fee_charged_ika.value, paid.fee_charged_ika.value);
    held.value = add(held.value, paid.gas_fee_reimbursement_sui.value);
  });
}

function add(a: string, b: string): string {
  return (BigInt(a) + BigInt(b)).toString();
}
