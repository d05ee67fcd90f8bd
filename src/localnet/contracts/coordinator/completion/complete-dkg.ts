import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import type { ExecutionState } from "../../../fullnode/execution/execution-state.ts";
import { borrowObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import type { MpcOutcome } from "../../../mpc/engine.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { DWalletStruct, readInner } from "../coordinator-state.ts";
import { setShareVerdict } from "./complete-share.ts";
import { setSignature } from "./complete-sign.ts";
import type { SessionOf } from "./requested-session.ts";
import { emitResult } from "./result-event.ts";

const {
  CompletedDWalletDKGEvent,
  CompletedDWalletImportedKeyVerificationEvent,
  DWalletDKGRequestEvent,
  DWalletImportedKeyVerificationRequestEvent,
  RejectedDWalletDKGEvent,
  RejectedDWalletImportedKeyVerificationEvent,
} = CoordinatorInnerModule;
const { DWalletSessionResultEvent } = SessionsManagerModule;

const DkgResult = DWalletSessionResultEvent(
  DWalletDKGRequestEvent,
  CompletedDWalletDKGEvent,
  RejectedDWalletDKGEvent,
);
const ImportResult = DWalletSessionResultEvent(
  DWalletImportedKeyVerificationRequestEvent,
  CompletedDWalletImportedKeyVerificationEvent,
  RejectedDWalletImportedKeyVerificationEvent,
);

/**
 * Completes a DKG, with its signature if it has one. A dWallet whose share is public is active at once; any other waits
 * for the owner of its share.
 */
export function completeDkg(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: SessionOf<"dkg">,
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const shareId = data.user_secret_key_share.Encrypted?.encrypted_user_secret_key_share_id ?? null;
  const completed = outcome.kind === "completed";
  const public_output = completed ? Array.from(outcome.output) : [];
  const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(data.dwallet_id));
  state.update(dwallet, DWalletStruct, (value) => {
    value.state = !completed
      ? { $kind: "NetworkRejectedDKGVerification", NetworkRejectedDKGVerification: true }
      : value.public_user_secret_key_share === null
        ? { $kind: "AwaitingKeyHolderSignature", AwaitingKeyHolderSignature: { public_output } }
        : { $kind: "Active", Active: { public_output } };
  });
  if (shareId !== null) {
    const shares = state.read(dwallet, DWalletStruct).encrypted_user_secret_key_shares;
    setShareVerdict(state, shares, shareId, completed);
  }
  const signId = data.sign_during_dkg_request?.sign_id ?? null;
  if (signId !== null) {
    const signature = completed ? Array.from(outcome.signature ?? []) : undefined;
    setSignature(state, state.read(dwallet, DWalletStruct).sign_sessions, signId, signature);
  }
  const { dwallet_id } = data;
  const success = { dwallet_id, public_output, encrypted_user_secret_key_share_id: shareId, sign_id: signId };
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

/** Accepts or rejects a user's own key. An accepted dWallet waits for the owner of its share. */
export function completeImportedKey(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: SessionOf<"importedKey">,
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const { dwallet_id, encrypted_user_secret_key_share_id } = data;
  const completed = outcome.kind === "completed";
  const public_output = completed ? Array.from(outcome.output) : [];
  const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(dwallet_id));
  state.update(dwallet, DWalletStruct, (value) => {
    value.state = completed
      ? { $kind: "AwaitingKeyHolderSignature", AwaitingKeyHolderSignature: { public_output } }
      : { $kind: "NetworkRejectedImportedKeyVerification", NetworkRejectedImportedKeyVerification: true };
  });
  const shares = state.read(dwallet, DWalletStruct).encrypted_user_secret_key_shares;
  setShareVerdict(state, shares, encrypted_user_secret_key_share_id, completed);
  const status: (typeof ImportResult.$inferType)["status"] = completed
    ? { $kind: "Success", Success: { dwallet_id, public_output, encrypted_user_secret_key_share_id } }
    : { $kind: "Rejected", Rejected: { dwallet_id } };
  emitResult(
    state,
    addresses,
    session,
    [
      "DWalletImportedKeyVerificationRequestEvent",
      "CompletedDWalletImportedKeyVerificationEvent",
      "RejectedDWalletImportedKeyVerificationEvent",
    ],
    (fields) => ImportResult.serialize({ ...fields, status, session_initiator_event_data: data }),
  );
}
