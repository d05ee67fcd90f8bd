import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import type { ExecutionState } from "../../fullnode/execution/execution-state.ts";
import {
  borrowObject,
  idName,
  removeField,
  removeObject,
  u64Name,
} from "../../fullnode/objects/dynamic-fields.ts";
import type { MpcOutcome } from "../../mpc/engine.ts";
import type { NetworkAddresses } from "../addresses.ts";
import {
  coordinatorTypes,
  DWalletStruct,
  EncryptedShareStruct,
  PresignSessionStruct,
  readInner,
  SignSessionStruct,
  updateInner,
} from "./coordinator-state.ts";
import type { WaitingSession } from "./requested-session.ts";
import { increment, type SessionFields } from "./sessions.ts";

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
    case "presign":
      completePresign(state, addresses, session, outcome);
      return;
    case "sign":
      completeSign(state, addresses, session, outcome);
  }
}

const {
  CompletedDWalletDKGEvent,
  CompletedPresignEvent,
  CompletedSignEvent,
  DWalletDKGRequestEvent,
  PresignRequestEvent,
  RejectedDWalletDKGEvent,
  RejectedPresignEvent,
  RejectedSignEvent,
  SignRequestEvent,
} = CoordinatorInnerModule;
const { DWalletSession, DWalletSessionResultEvent } = SessionsManagerModule;

const DkgResult = DWalletSessionResultEvent(
  DWalletDKGRequestEvent,
  CompletedDWalletDKGEvent,
  RejectedDWalletDKGEvent,
);
const PresignResult = DWalletSessionResultEvent(
  PresignRequestEvent,
  CompletedPresignEvent,
  RejectedPresignEvent,
);
const SignResult = DWalletSessionResultEvent(SignRequestEvent, CompletedSignEvent, RejectedSignEvent);

function completeDkg(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: WaitingSession & { kind: "dkg" },
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(data.dwallet_id));
  const shareId = data.user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id;
  if (shareId === undefined) throw new Error("a DKG session has an encrypted share on this network");
  const shares = state.read(dwallet, DWalletStruct).encrypted_user_secret_key_shares;
  const share = borrowObject(state, shares, idName(shareId));
  const completed = outcome.kind === "completed";
  const public_output = completed ? Array.from(outcome.output) : [];
  state.update(dwallet, DWalletStruct, (value) => {
    value.state = completed
      ? { $kind: "AwaitingKeyHolderSignature", AwaitingKeyHolderSignature: { public_output } }
      : { $kind: "NetworkRejectedDKGVerification", NetworkRejectedDKGVerification: true };
  });
  state.update(share, EncryptedShareStruct, (value) => {
    value.state = completed
      ? { $kind: "NetworkVerificationCompleted", NetworkVerificationCompleted: true }
      : { $kind: "NetworkVerificationRejected", NetworkVerificationRejected: true };
  });
  const { dwallet_id } = data;
  const success = { dwallet_id, public_output, encrypted_user_secret_key_share_id: shareId, sign_id: null };
  const status: (typeof DkgResult.$inferType)["status"] = completed
    ? { $kind: "Success", Success: success }
    : { $kind: "Rejected", Rejected: { dwallet_id, public_output } };
  emitResult(
    state,
    addresses,
    session,
    ["DWalletDKGRequestEvent", "CompletedDWalletDKGEvent", "RejectedDWalletDKGEvent"],
    (fields) => DkgResult.serialize({ ...fields, status, session_initiator_event_data: data }),
  );
}

function completePresign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: WaitingSession & { kind: "presign" },
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const presign = borrowObject(state, readInner(state, addresses).presign_sessions, idName(data.presign_id));
  const output = outcome.kind === "completed" ? Array.from(outcome.output) : undefined;
  state.update(presign, PresignSessionStruct, (value) => {
    value.state =
      output === undefined
        ? { $kind: "NetworkRejected", NetworkRejected: true }
        : { $kind: "Completed", Completed: { presign: output } };
  });
  const { dwallet_id, presign_id } = data;
  const status: (typeof PresignResult.$inferType)["status"] =
    output === undefined
      ? { $kind: "Rejected", Rejected: { dwallet_id, presign_id } }
      : { $kind: "Success", Success: { dwallet_id, presign_id, presign: output } };
  emitResult(
    state,
    addresses,
    session,
    ["PresignRequestEvent", "CompletedPresignEvent", "RejectedPresignEvent"],
    (fields) => PresignResult.serialize({ ...fields, status, session_initiator_event_data: data }),
  );
}

function completeSign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: WaitingSession & { kind: "sign" },
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(data.dwallet_id));
  const sign = borrowObject(state, state.read(dwallet, DWalletStruct).sign_sessions, idName(data.sign_id));
  const signature = outcome.kind === "completed" ? Array.from(outcome.output) : undefined;
  state.update(sign, SignSessionStruct, (value) => {
    value.state =
      signature === undefined
        ? { $kind: "NetworkRejected", NetworkRejected: true }
        : { $kind: "Completed", Completed: { signature } };
  });
  const { sign_id, is_future_sign } = data;
  const status: (typeof SignResult.$inferType)["status"] =
    signature === undefined
      ? { $kind: "Rejected", Rejected: { sign_id, is_future_sign } }
      : { $kind: "Success", Success: { sign_id, signature, is_future_sign } };
  emitResult(
    state,
    addresses,
    session,
    ["SignRequestEvent", "CompletedSignEvent", "RejectedSignEvent"],
    (fields) => SignResult.serialize({ ...fields, status, session_initiator_event_data: data }),
  );
}

/** Removes the session and its event, and transfers its payment to the network. */
function closeSession(state: ExecutionState, addresses: NetworkAddresses, session: WaitingSession): void {
  updateInner(state, addresses, (inner) => {
    const manager = inner.sessions_manager;
    const keeper = manager.user_sessions_keeper;
    const object = removeObject(state, keeper.sessions, u64Name(session.sequenceNumber));
    const paid = state.read(object, DWalletSession);
    removeField(state, keeper.session_events, idName(session.fields.session_object_id));
    state.remove(object);
    keeper.completed_sessions_count = increment(keeper.completed_sessions_count);
    const fees = inner.pricing_and_fee_manager;
    const held = fees.gas_fee_reimbursement_sui_system_call_balance;
    fees.fee_charged_ika.value = add(fees.fee_charged_ika.value, paid.fee_charged_ika.value);
    held.value = add(held.value, paid.gas_fee_reimbursement_sui.value);
  });
}

interface ResultFields extends SessionFields {
  readonly event_initiated_at_epoch: string;
}

/** Emits the result event of the session; `names` are its request, completed and rejected event. */
function emitResult(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: WaitingSession,
  names: readonly [string, string, string],
  encode: (fields: ResultFields) => { toBytes(): Uint8Array },
): void {
  const types = coordinatorTypes(addresses.dwalletPackageId);
  const { fields } = session;
  const epoch = readInner(state, addresses).current_epoch;
  state.emit({
    packageId: addresses.dwalletPackageId,
    module: "sessions_manager",
    type: types.sessions(`DWalletSessionResultEvent<${names.map((name) => types.inner(name)).join(",")}>`),
    contents: encode({ ...fields, epoch, event_initiated_at_epoch: fields.epoch }).toBytes(),
  });
}

function add(a: string, b: string): string {
  return (BigInt(a) + BigInt(b)).toString();
}
