import { bcs } from "@mysten/sui/bcs";
import { Address, U64 } from "./fast-bcs.ts";

const bytes = bcs.vector(bcs.u8());
/** `Table`, `ObjectTable` and `TableVec` are all an id and a length on the wire. */
const Table = bcs.struct("Table", { id: Address, size: U64 });

/** `coordinator_inner::DWalletState`. */
export const DWalletState = bcs.enum("DWalletState", {
  DKGRequested: null,
  NetworkRejectedDKGRequest: null,
  AwaitingUserDKGVerificationInitiation: bytes,
  AwaitingNetworkDKGVerification: null,
  NetworkRejectedDKGVerification: null,
  AwaitingNetworkImportedKeyVerification: null,
  NetworkRejectedImportedKeyVerification: null,
  AwaitingKeyHolderSignature: bytes,
  Active: bytes,
});

/** `coordinator_inner::DWallet`. */
export const DWallet = bcs.struct("DWallet", {
  id: Address,
  created_at_epoch: U64,
  curve: bcs.u32(),
  public_user_secret_key_share: bcs.option(bytes),
  dwallet_cap_id: Address,
  dwallet_network_encryption_key_id: Address,
  is_imported_key_dwallet: bcs.bool(),
  encrypted_user_secret_key_shares: Table,
  sign_sessions: Table,
  state: DWalletState,
});

/** `coordinator_inner::EncryptedUserSecretKeyShare`. */
export const EncryptedUserSecretKeyShare = bcs.struct("EncryptedUserSecretKeyShare", {
  id: Address,
  created_at_epoch: U64,
  dwallet_id: Address,
  encrypted_centralized_secret_share_and_proof: bytes,
  encryption_key_id: Address,
  encryption_key_address: Address,
  source_encrypted_user_secret_key_share_id: bcs.option(Address),
  state: bcs.enum("EncryptedUserSecretKeyShareState", {
    AwaitingNetworkVerification: null,
    NetworkVerificationCompleted: null,
    NetworkVerificationRejected: null,
    KeyHolderSigned: bytes,
  }),
});

/** `coordinator_inner::PresignState` and `SignState`, which have the same layout. */
export const SessionState = bcs.enum("SessionState", {
  Requested: null,
  NetworkRejected: null,
  Completed: bytes,
});

/** `coordinator_inner::PresignSession`. */
export const PresignSession = bcs.struct("PresignSession", {
  id: Address,
  created_at_epoch: U64,
  curve: bcs.u32(),
  signature_algorithm: bcs.u32(),
  dwallet_id: bcs.option(Address),
  cap_id: Address,
  state: SessionState,
});

/** `coordinator_inner::SignSession`. */
export const SignSession = bcs.struct("SignSession", {
  id: Address,
  created_at_epoch: U64,
  dwallet_id: Address,
  state: SessionState,
});

/** `coordinator_inner::EncryptionKey`. */
export const EncryptionKey = bcs.struct("EncryptionKey", {
  id: Address,
  created_at_epoch: U64,
  curve: bcs.u32(),
  encryption_key: bytes,
  encryption_key_signature: bytes,
  signer_public_key: bytes,
  signer_address: Address,
});

/** `coordinator_inner::DWalletNetworkEncryptionKey`. */
export const DWalletNetworkEncryptionKey = bcs.struct("DWalletNetworkEncryptionKey", {
  id: Address,
  dkg_at_epoch: U64,
  network_dkg_public_output: Table,
  reconfiguration_public_outputs: Table,
  dkg_params_for_network: bytes,
  supported_curves: bcs.vector(bcs.u32()),
  state: bcs.enum("DWalletNetworkEncryptionKeyState", {
    AwaitingNetworkDKG: null,
    NetworkDKGCompleted: null,
    AwaitingNetworkReconfiguration: null,
    NetworkReconfigurationCompleted: null,
  }),
});

/** `coordinator::DWalletCoordinator`: the shared object. Its state is a dynamic field whose name is the version. */
export const DWalletCoordinator = bcs.struct("DWalletCoordinator", {
  id: Address,
  version: U64,
  package_id: Address,
  new_package_id: bcs.option(Address),
  migration_epoch: bcs.option(U64),
});

const SessionsKeeper = bcs.struct("SessionsKeeper", {
  sessions: Table,
  session_events: Table,
  started_sessions_count: U64,
  completed_sessions_count: U64,
  next_session_sequence_number: U64,
});

/** The beginning of `Field<u64, coordinator_inner::DWalletCoordinatorInner>`, up to the network encryption keys. */
export const CoordinatorInnerHead = bcs.struct("CoordinatorInnerHead", {
  field_id: Address,
  version: U64,
  current_epoch: U64,
  sessions_manager: bcs.struct("SessionsManager", {
    registered_user_session_identifiers: Table,
    user_sessions_keeper: SessionsKeeper,
    system_sessions_keeper: SessionsKeeper,
    last_user_initiated_session_to_complete_in_current_epoch: U64,
    locked_last_user_initiated_session_to_complete_in_current_epoch: bcs.bool(),
    max_active_sessions_buffer: U64,
  }),
  dwallets: Table,
  dwallet_network_encryption_keys: Table,
});

/** `Field<u64, vector<u8>>`: one chunk of a `TableVec<vector<u8>>`. */
export const ChunkField = bcs.struct("ChunkField", {
  id: Address,
  name: U64,
  value: bcs.byteVector(),
});

/** `Field<u64, TableVec<vector<u8>>>`: the output of a reconfiguration, under its epoch. */
export const ReconfigurationField = bcs.struct("ReconfigurationField", {
  id: Address,
  epoch: U64,
  output: Table,
});

/** `Field<Wrapper<ID>, ID>`: one entry of an `ObjectTable` whose keys are ids. */
export const ObjectTableEntry = bcs.struct("ObjectTableEntry", {
  id: Address,
  name: Address,
  value: Address,
});
