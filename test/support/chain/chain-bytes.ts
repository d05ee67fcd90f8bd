import { CoordinatorInnerModule, SessionsManagerModule } from "@ika.xyz/sdk";
import { ImportPaid } from "../../../src/localnet/contracts/treasury/treasury-events.ts";
import { PresignSession, SignSession } from "../../../src/protocol/chain/chain-structs.ts";
import type { ChainEvent } from "../../../src/service/chain/operation.ts";
import type { SignSubject } from "../../../src/service/signing/sign-operation.ts";
import { objectId } from "../database/rows.ts";

/** The outcome of a session, as the chain writes it. */
export type TestSessionState =
  | { readonly Requested: true }
  | { readonly NetworkRejected: true }
  | { readonly Completed: Uint8Array };

const PACKAGE = `0x${"12".repeat(32)}`;

/** The event of a requested presign: by default a global one. */
export function presignRequested(
  preimage: Uint8Array,
  presignId: string,
  dwalletId: string | null = null,
): ChainEvent {
  return sessionEvent("PresignRequestEvent", CoordinatorInnerModule.PresignRequestEvent, preimage, {
    dwallet_id: dwalletId,
    presign_id: presignId,
    dwallet_public_output: null,
    dwallet_network_encryption_key_id: objectId(),
    curve: 0,
    signature_algorithm: 0,
  });
}

/** The event of a signature request for this subject. */
export function signRequested(subject: Omit<SignSubject, "id">, signId: string): ChainEvent {
  return sessionEvent("SignRequestEvent", CoordinatorInnerModule.SignRequestEvent, new Uint8Array(32), {
    sign_id: signId,
    dwallet_id: subject.dwalletId,
    dwallet_public_output: [],
    curve: subject.curve,
    signature_algorithm: subject.signatureAlgorithm,
    hash_scheme: subject.hashScheme,
    message: [...subject.message],
    dwallet_network_encryption_key_id: objectId(),
    presign_id: subject.presignId,
    presign: [2],
    message_centralized_signature: [...subject.userSignMessage],
    is_future_sign: false,
  });
}

/** The event of a half that was sent for later. */
export function halfRequested(
  preimage: Uint8Array,
  subject: Omit<SignSubject, "id" | "dwalletRowId" | "dwalletKind">,
  halfId: string,
): ChainEvent {
  return sessionEvent("FutureSignRequestEvent", CoordinatorInnerModule.FutureSignRequestEvent, preimage, {
    dwallet_id: subject.dwalletId,
    partial_centralized_signed_message_id: halfId,
    message: [...subject.message],
    presign: [2],
    dwallet_public_output: [],
    curve: subject.curve,
    signature_algorithm: subject.signatureAlgorithm,
    hash_scheme: subject.hashScheme,
    message_centralized_signature: [...subject.userSignMessage],
    dwallet_network_encryption_key_id: objectId(),
  });
}

/** The content of the object of a half that was sent for later. */
export function halfContent(
  half: Parameters<typeof halfRequested>[1] & { readonly halfId: string },
  state: Parameters<typeof CoordinatorInnerModule.PartialUserSignature.serialize>[0]["state"],
): Uint8Array {
  return CoordinatorInnerModule.PartialUserSignature.serialize({
    id: half.halfId,
    created_at_epoch: 1,
    presign_cap: { id: objectId(), dwallet_id: null, presign_id: half.presignId },
    dwallet_id: half.dwalletId,
    cap_id: objectId(),
    curve: half.curve,
    signature_algorithm: half.signatureAlgorithm,
    hash_scheme: half.hashScheme,
    message: [...half.message],
    message_centralized_signature: [...half.userSignMessage],
    state,
  }).toBytes();
}

/** The ids that a DKG creates. */
export interface TestDkg {
  readonly dwalletId: string;
  readonly capId: string;
  readonly shareId: string;
  /** The address of the key that the share is encrypted to. Default: any. */
  readonly ownerAddress?: string;
}

/** The event of a requested DKG, with an encrypted share of the user unless it is public. */
export function dkgRequested(
  preimage: Uint8Array,
  { dwalletId, capId, shareId, ownerAddress = objectId() }: TestDkg,
  { isPublic = false } = {},
): ChainEvent {
  const encrypted = {
    encrypted_user_secret_key_share_id: shareId,
    encrypted_centralized_secret_share_and_proof: [],
    encryption_key: [],
    encryption_key_id: objectId(),
    encryption_key_address: ownerAddress,
    signer_public_key: [],
  };
  return sessionEvent("DWalletDKGRequestEvent", CoordinatorInnerModule.DWalletDKGRequestEvent, preimage, {
    dwallet_id: dwalletId,
    centralized_public_key_share_and_proof: [],
    user_public_output: [],
    dwallet_cap_id: capId,
    dwallet_network_encryption_key_id: objectId(),
    curve: 0,
    user_secret_key_share: isPublic
      ? { Public: { public_user_secret_key_share: [] } }
      : { Encrypted: encrypted },
    sign_during_dkg_request: null,
  });
}

/** The event of a requested verification of an imported key. */
export function importRequested(
  preimage: Uint8Array,
  { dwalletId, capId, shareId, ownerAddress = objectId() }: TestDkg,
  encryptionKeyId: string = objectId(),
): ChainEvent {
  return sessionEvent(
    "DWalletImportedKeyVerificationRequestEvent",
    CoordinatorInnerModule.DWalletImportedKeyVerificationRequestEvent,
    preimage,
    {
      dwallet_id: dwalletId,
      encrypted_user_secret_key_share_id: shareId,
      centralized_party_message: [1],
      dwallet_cap_id: capId,
      encrypted_centralized_secret_share_and_proof: [2],
      encryption_key: [],
      encryption_key_id: encryptionKeyId,
      encryption_key_address: ownerAddress,
      user_public_output: [3],
      signer_public_key: [4],
      dwallet_network_encryption_key_id: objectId(),
      curve: 0,
    },
  );
}

/** The Treasury's event of a paid import, with the service's own reference. */
export function importPaid(dwalletId: string, reference: string): ChainEvent {
  const paid = {
    ...{ treasury_id: objectId(), operator_cap_id: objectId(), dwallet_id: dwalletId },
    ...{ dwallet_cap_id: objectId(), curve: 0, owner: objectId(), ika: 1, sui: 1 },
    request_ref: new TextEncoder().encode(reference),
  };
  return { type: `${PACKAGE}::treasury::ImportPaid`, bcs: ImportPaid.serialize(paid).toBytes() };
}

/** The event of a share that its user accepted. */
export function shareAccepted(dwalletId: string): ChainEvent {
  const event = {
    encrypted_user_secret_key_share_id: objectId(),
    dwallet_id: dwalletId,
    user_output_signature: [1],
    encryption_key_id: objectId(),
    encryption_key_address: objectId(),
  };
  return {
    type: `${PACKAGE}::coordinator_inner::AcceptEncryptedUserShareEvent`,
    bcs: CoordinatorInnerModule.AcceptEncryptedUserShareEvent.serialize(event as never).toBytes(),
  };
}

/** The content of a presign session's object; by default a global one of the first curve and algorithm. */
export function presignSession(
  id: string,
  state: TestSessionState,
  { curve = 0, signatureAlgorithm = 0, dwalletId = null as string | null } = {},
): Uint8Array {
  return PresignSession.serialize({
    id,
    created_at_epoch: 0n,
    curve,
    signature_algorithm: signatureAlgorithm,
    dwallet_id: dwalletId,
    cap_id: objectId(),
    state: chainState(state),
  }).toBytes();
}

/** The content of a dWallet's sign session. */
export function signSession(id: string, dwalletId: string, state: TestSessionState): Uint8Array {
  return SignSession.serialize({
    id,
    created_at_epoch: 0n,
    dwallet_id: dwalletId,
    state: chainState(state),
  }).toBytes();
}

function chainState(state: TestSessionState) {
  return "Completed" in state ? { Completed: [...state.Completed] } : state;
}

function sessionEvent(name: string, data: unknown, preimage: Uint8Array, values: object): ChainEvent {
  const struct = SessionsManagerModule.DWalletSessionEvent(data as never);
  const event = {
    epoch: 1n,
    session_object_id: objectId(),
    session_type: { User: true },
    session_sequence_number: 1n,
    session_identifier_preimage: [...preimage],
    event_data: values,
  };
  return {
    type: `${PACKAGE}::sessions_manager::DWalletSessionEvent<${PACKAGE}::coordinator_inner::${name}>`,
    bcs: struct.serialize(event as never).toBytes(),
  };
}
