import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import type { ExecutionState } from "../../../fullnode/execution/execution-state.ts";
import { borrowObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import type { MpcOutcome } from "../../../mpc/engine.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import {
  DWalletStruct,
  PartialSignatureStruct,
  PresignSessionStruct,
  readInner,
  SignSessionStruct,
} from "../coordinator-state.ts";
import type { SessionOf } from "./requested-session.ts";
import { emitResult } from "./result-event.ts";

const {
  CompletedFutureSignEvent,
  CompletedPresignEvent,
  CompletedSignEvent,
  FutureSignRequestEvent,
  PresignRequestEvent,
  RejectedFutureSignEvent,
  RejectedPresignEvent,
  RejectedSignEvent,
  SignRequestEvent,
} = CoordinatorInnerModule;
const { DWalletSessionResultEvent } = SessionsManagerModule;

const PresignResult = DWalletSessionResultEvent(
  PresignRequestEvent,
  CompletedPresignEvent,
  RejectedPresignEvent,
);
const SignResult = DWalletSessionResultEvent(SignRequestEvent, CompletedSignEvent, RejectedSignEvent);

const FutureSignResult = DWalletSessionResultEvent(
  FutureSignRequestEvent,
  CompletedFutureSignEvent,
  RejectedFutureSignEvent,
);

/** Stores the presign in its session. */
export function completePresign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: SessionOf<"presign">,
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

/** Stores the signature under its dWallet. */
export function completeSign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: SessionOf<"sign">,
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(data.dwallet_id));
  const signature = outcome.kind === "completed" ? Array.from(outcome.output) : undefined;
  setSignature(state, state.read(dwallet, DWalletStruct).sign_sessions, data.sign_id, signature);
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

/** Writes the verdict on a user's half of a signature that is completed later. */
export function completeFutureSign(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: SessionOf<"futureSign">,
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const { dwallet_id, partial_centralized_signed_message_id } = data;
  const table = readInner(state, addresses).partial_centralized_signed_messages;
  const partial = borrowObject(state, table, idName(partial_centralized_signed_message_id));
  const completed = outcome.kind === "completed";
  state.update(partial, PartialSignatureStruct, (value) => {
    value.state = completed
      ? { $kind: "NetworkVerificationCompleted", NetworkVerificationCompleted: true }
      : { $kind: "NetworkVerificationRejected", NetworkVerificationRejected: true };
  });
  const ids = { dwallet_id, partial_centralized_signed_message_id };
  const status: (typeof FutureSignResult.$inferType)["status"] = completed
    ? { $kind: "Success", Success: ids }
    : { $kind: "Rejected", Rejected: ids };
  emitResult(
    state,
    addresses,
    session,
    ["FutureSignRequestEvent", "CompletedFutureSignEvent", "RejectedFutureSignEvent"],
    (fields) => FutureSignResult.serialize({ ...fields, status, session_initiator_event_data: data }),
  );
}

/** Completes a sign session with its signature, or rejects it without one. */
export function setSignature(
  state: ExecutionState,
  signSessions: { id: string; size: string },
  signId: string,
  signature: number[] | undefined,
): void {
  state.update(borrowObject(state, signSessions, idName(signId)), SignSessionStruct, (value) => {
    value.state =
      signature === undefined
        ? { $kind: "NetworkRejected", NetworkRejected: true }
        : { $kind: "Completed", Completed: { signature } };
  });
}
