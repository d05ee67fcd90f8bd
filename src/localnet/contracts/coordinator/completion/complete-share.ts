import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import type { ExecutionState } from "../../../fullnode/execution/execution-state.ts";
import { borrowObject, idName } from "../../../fullnode/objects/dynamic-fields.ts";
import type { MpcOutcome } from "../../../mpc/engine.ts";
import type { NetworkAddresses } from "../../addresses.ts";
import { DWalletStruct, EncryptedShareStruct, readInner } from "../coordinator-state.ts";
import type { SessionOf } from "./requested-session.ts";
import { emitResult } from "./result-event.ts";

const {
  CompletedEncryptedShareVerificationEvent,
  CompletedMakeDWalletUserSecretKeySharePublicEvent,
  EncryptedShareVerificationRequestEvent,
  MakeDWalletUserSecretKeySharePublicRequestEvent,
  RejectedEncryptedShareVerificationEvent,
  RejectedMakeDWalletUserSecretKeySharePublicEvent,
} = CoordinatorInnerModule;

const { DWalletSessionResultEvent } = SessionsManagerModule;

const EncryptedShareResult = DWalletSessionResultEvent(
  EncryptedShareVerificationRequestEvent,
  CompletedEncryptedShareVerificationEvent,
  RejectedEncryptedShareVerificationEvent,
);
const PublicShareResult = DWalletSessionResultEvent(
  MakeDWalletUserSecretKeySharePublicRequestEvent,
  CompletedMakeDWalletUserSecretKeySharePublicEvent,
  RejectedMakeDWalletUserSecretKeySharePublicEvent,
);

/** Writes the verdict on a share that was encrypted to another key. Its owner accepts it afterwards. */
export function completeEncryptedShare(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: SessionOf<"encryptedShare">,
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const { dwallet_id, encrypted_user_secret_key_share_id } = data;
  const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(dwallet_id));
  const shares = state.read(dwallet, DWalletStruct).encrypted_user_secret_key_shares;
  const completed = outcome.kind === "completed";
  setShareVerdict(state, shares, encrypted_user_secret_key_share_id, completed);
  const ids = { encrypted_user_secret_key_share_id, dwallet_id };
  const status: (typeof EncryptedShareResult.$inferType)["status"] = completed
    ? { $kind: "Success", Success: ids }
    : { $kind: "Rejected", Rejected: ids };
  emitResult(
    state,
    addresses,
    session,
    [
      "EncryptedShareVerificationRequestEvent",
      "CompletedEncryptedShareVerificationEvent",
      "RejectedEncryptedShareVerificationEvent",
    ],
    (fields) => EncryptedShareResult.serialize({ ...fields, status, session_initiator_event_data: data }),
  );
}

/**
 * Publishes a share that the network has accepted. Of several requests for one dWallet the first publishes its share:
 * each of them holds the same share.
 */
export function completePublicShare(
  state: ExecutionState,
  addresses: NetworkAddresses,
  session: SessionOf<"publicShare">,
  outcome: MpcOutcome,
): void {
  const { data } = session;
  const { dwallet_id, public_user_secret_key_share } = data;
  const completed = outcome.kind === "completed";
  if (completed) {
    const dwallet = borrowObject(state, readInner(state, addresses).dwallets, idName(dwallet_id));
    state.update(dwallet, DWalletStruct, (value) => {
      value.public_user_secret_key_share ??= public_user_secret_key_share;
    });
  }
  const status: (typeof PublicShareResult.$inferType)["status"] = completed
    ? { $kind: "Success", Success: { dwallet_id, public_user_secret_key_share } }
    : { $kind: "Rejected", Rejected: { dwallet_id } };
  emitResult(
    state,
    addresses,
    session,
    [
      "MakeDWalletUserSecretKeySharePublicRequestEvent",
      "CompletedMakeDWalletUserSecretKeySharePublicEvent",
      "RejectedMakeDWalletUserSecretKeySharePublicEvent",
    ],
    (fields) => PublicShareResult.serialize({ ...fields, status, session_initiator_event_data: data }),
  );
}

/** Writes the network's verdict on the proof of an encrypted share. */
export function setShareVerdict(
  state: ExecutionState,
  shares: { id: string; size: string },
  shareId: string,
  isCompleted: boolean,
): void {
  const share = borrowObject(state, shares, idName(shareId));
  state.update(share, EncryptedShareStruct, (value) => {
    value.state = isCompleted
      ? { $kind: "NetworkVerificationCompleted", NetworkVerificationCompleted: true }
      : { $kind: "NetworkVerificationRejected", NetworkVerificationRejected: true };
  });
}
