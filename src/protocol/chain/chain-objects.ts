import type { BcsType } from "@mysten/sui/bcs";
import { bytesToHex } from "@noble/hashes/utils.js";
import { byteReader, MalformedBytesError } from "../bytes.ts";
import {
  DWallet,
  DWalletNetworkEncryptionKey,
  type DWalletState,
  EncryptedUserSecretKeyShare,
  EncryptionKey,
  PresignSession,
  type SessionState,
  SignSession,
} from "./chain-structs.ts";

/**
 * The coordinator's objects as the chain stores them: BCS of the Move structs in
 * `ika_dwallet_2pc_mpc::coordinator_inner` (field order and state names as in @ika.xyz/sdk 0.4.1; a unit test compares
 * them). Each parser throws MalformedBytesError for bytes of another layout.
 */

/** The states of a dWallet, in the chain's order. */
type DWalletChainState =
  | { readonly kind: "DKGRequested" | "NetworkRejectedDKGRequest" }
  | { readonly kind: "AwaitingUserDKGVerificationInitiation" }
  | { readonly kind: "AwaitingNetworkDKGVerification" | "NetworkRejectedDKGVerification" }
  | { readonly kind: "AwaitingNetworkImportedKeyVerification" | "NetworkRejectedImportedKeyVerification" }
  | { readonly kind: "AwaitingKeyHolderSignature" | "Active"; readonly publicOutput: Uint8Array };

/** `coordinator_inner::DWallet`, without the fields that this project does not use. */
export interface ChainDWallet {
  readonly id: string;
  /** The chain's integer. */
  readonly curveNumber: number;
  readonly dwalletCapId: string;
  readonly networkEncryptionKeyId: string;
  readonly isImportedKey: boolean;
  /** The table of the user's encrypted shares, by their ids. */
  readonly encryptedShareTableId: string;
  readonly state: DWalletChainState;
}

/** The user's encrypted share. */
interface ChainEncryptedShare {
  readonly id: string;
  readonly dwalletId: string;
  readonly encryptedShareAndProof: Uint8Array;
  readonly encryptionKeyId: string;
  /** The Sui address of the owner of the encryption key. */
  readonly encryptionKeyAddress: string;
  /** The share that a user has passed on as this one; undefined for the DKG's share. */
  readonly sourceShareId: string | undefined;
  readonly state:
    | {
        readonly kind:
          | "AwaitingNetworkVerification"
          | "NetworkVerificationCompleted"
          | "NetworkVerificationRejected";
      }
    | { readonly kind: "KeyHolderSigned"; readonly userOutputSignature: Uint8Array };
}

/** The state of a network session. `output` is the presign or the signature as the chain stores it. */
type SessionChainState =
  | { readonly kind: "Requested" | "NetworkRejected" }
  | { readonly kind: "Completed"; readonly output: Uint8Array };

/** A presign session. The chain deletes it when a sign request uses it. */
export interface ChainPresignSession {
  readonly id: string;
  readonly curveNumber: number;
  readonly signatureAlgorithmNumber: number;
  /** Absent for a global presign. */
  readonly dwalletId: string | undefined;
  readonly capId: string;
  readonly state: SessionChainState;
}

/** A sign session, a child of its dWallet. */
interface ChainSignSession {
  readonly id: string;
  readonly dwalletId: string;
  readonly state: SessionChainState;
}

/** A user's registered encryption key. */
export interface ChainEncryptionKey {
  readonly id: string;
  readonly curveNumber: number;
  readonly encryptionKey: Uint8Array;
  /** The signer's Ed25519 signature over `encryptionKey`. */
  readonly signature: Uint8Array;
  readonly signerPublicKey: Uint8Array;
  readonly signerAddress: string;
}

/** `coordinator_inner::DWalletNetworkEncryptionKey`, without the fields that this project does not use. */
export interface ChainNetworkEncryptionKey {
  readonly id: string;
  readonly dkgAtEpoch: bigint;
  /** The table that holds the network DKG's output in chunks. */
  readonly networkDkgOutputTableId: string;
  readonly networkDkgOutputChunkCount: bigint;
  /** The table that holds the outputs of the reconfigurations, each under its epoch. */
  readonly reconfigurationOutputsTableId: string;
  readonly supportedCurveNumbers: readonly number[];
  readonly stateKind: string;
}

/** Reads `coordinator_inner::DWallet`. */
export function parseDWallet(content: Uint8Array): ChainDWallet {
  const raw = parseStruct("dWallet", DWallet, content);
  return {
    id: raw.id,
    curveNumber: raw.curve,
    dwalletCapId: raw.dwallet_cap_id,
    networkEncryptionKeyId: raw.dwallet_network_encryption_key_id,
    isImportedKey: raw.is_imported_key_dwallet,
    encryptedShareTableId: raw.encrypted_user_secret_key_shares.id,
    state: dwalletState(raw.state),
  };
}

/** Reads `coordinator_inner::EncryptedUserSecretKeyShare`. */
export function parseEncryptedShare(content: Uint8Array): ChainEncryptedShare {
  const raw = parseStruct("encrypted share", EncryptedUserSecretKeyShare, content);
  return {
    id: raw.id,
    dwalletId: raw.dwallet_id,
    encryptedShareAndProof: Uint8Array.from(raw.encrypted_centralized_secret_share_and_proof),
    encryptionKeyId: raw.encryption_key_id,
    encryptionKeyAddress: raw.encryption_key_address,
    sourceShareId: raw.source_encrypted_user_secret_key_share_id ?? undefined,
    state:
      raw.state.$kind === "KeyHolderSigned"
        ? { kind: "KeyHolderSigned", userOutputSignature: Uint8Array.from(raw.state.KeyHolderSigned) }
        : { kind: raw.state.$kind },
  };
}

/** Reads `coordinator_inner::PresignSession`. */
export function parsePresignSession(content: Uint8Array): ChainPresignSession {
  const raw = parseStruct("presign session", PresignSession, content);
  return {
    id: raw.id,
    curveNumber: raw.curve,
    signatureAlgorithmNumber: raw.signature_algorithm,
    dwalletId: raw.dwallet_id ?? undefined,
    capId: raw.cap_id,
    state: sessionState(raw.state),
  };
}

/** Reads `coordinator_inner::SignSession`. */
export function parseSignSession(content: Uint8Array): ChainSignSession {
  const raw = parseStruct("sign session", SignSession, content);
  return { id: raw.id, dwalletId: raw.dwallet_id, state: sessionState(raw.state) };
}

/** Reads `coordinator_inner::EncryptionKey`. */
export function parseEncryptionKey(content: Uint8Array): ChainEncryptionKey {
  const raw = parseStruct("encryption key", EncryptionKey, content);
  return {
    id: raw.id,
    curveNumber: raw.curve,
    encryptionKey: Uint8Array.from(raw.encryption_key),
    signature: Uint8Array.from(raw.encryption_key_signature),
    signerPublicKey: Uint8Array.from(raw.signer_public_key),
    signerAddress: raw.signer_address,
  };
}

/** Reads `coordinator_inner::DWalletNetworkEncryptionKey`. */
export function parseNetworkEncryptionKey(content: Uint8Array): ChainNetworkEncryptionKey {
  const raw = parseStruct("network encryption key", DWalletNetworkEncryptionKey, content);
  return {
    id: raw.id,
    dkgAtEpoch: BigInt(raw.dkg_at_epoch),
    networkDkgOutputTableId: raw.network_dkg_public_output.id,
    networkDkgOutputChunkCount: BigInt(raw.network_dkg_public_output.size),
    reconfigurationOutputsTableId: raw.reconfiguration_public_outputs.id,
    supportedCurveNumbers: raw.supported_curves,
    stateKind: raw.state.$kind,
  };
}

function dwalletState(state: ReturnType<typeof DWalletState.parse>): DWalletChainState {
  switch (state.$kind) {
    case "AwaitingKeyHolderSignature":
      return { kind: state.$kind, publicOutput: Uint8Array.from(state.AwaitingKeyHolderSignature) };
    case "Active":
      return { kind: state.$kind, publicOutput: Uint8Array.from(state.Active) };
    default:
      return { kind: state.$kind };
  }
}

function sessionState(state: ReturnType<typeof SessionState.parse>): SessionChainState {
  return state.$kind === "Completed"
    ? { kind: "Completed", output: Uint8Array.from(state.Completed) }
    : { kind: state.$kind };
}

/** Reads a whole struct. Throws MalformedBytesError for bytes of another layout and for trailing bytes. */
export function parseStruct<T extends Input, Input>(
  what: string,
  struct: BcsType<T, Input>,
  content: Uint8Array,
): T {
  let value: T;
  try {
    value = struct.parse(content);
  } catch {
    throw new MalformedBytesError(`${what}: not the chain's layout`);
  }
  // The BCS parser ignores trailing bytes. Serializing the value again shows whether there were any.
  const extraBytes = content.length - struct.serialize(value).toBytes().length;
  if (extraBytes !== 0) throw new MalformedBytesError(`${what}: ${extraBytes} bytes too many`);
  return value;
}

/** The session and the dWallet of an event that requests a DKG, or the verification of an imported key. */
interface DkgRequestEvent {
  /** keccak256(sender || session bytes), 32 bytes: the argument of `digestOfPreimage`. */
  readonly preimage: Uint8Array;
  readonly dwalletId: string;
}

/**
 * Returns whether a Sui event of this type requests a DKG, or the verification of an imported key. The type names the
 * package that first defined it.
 */
export function isDkgRequestEvent(eventType: string): boolean {
  return (
    eventType.includes("::sessions_manager::DWalletSessionEvent<") &&
    (eventType.endsWith("::coordinator_inner::DWalletDKGRequestEvent>") ||
      eventType.endsWith("::coordinator_inner::DWalletImportedKeyVerificationRequestEvent>"))
  );
}

/**
 * Reads the start of `sessions_manager::DWalletSessionEvent` of such a request: epoch | session object id | type |
 * sequence number | vec(preimage) | dWallet id. Ignores the rest. Throws MalformedBytesError.
 */
export function parseDkgRequestEvent(content: Uint8Array): DkgRequestEvent {
  const reader = byteReader(content, "DKG request event");
  reader.take(8 + 32);
  reader.uint8();
  reader.take(8);
  const preimage = reader.vector(32).slice();
  return { preimage, dwalletId: `0x${bytesToHex(reader.take(32))}` };
}
