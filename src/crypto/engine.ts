import type { AlgorithmTriple, CurveName } from "../protocol/algorithms.ts";
import type { SecretBytes } from "./secret-bytes.ts";

/**
 * The user's half of the protocol, as far as it is heavy: class-groups keys, DKG, decryption and sign messages.
 * An engine may work on the caller's thread or on another; it never does network calls. Every call rejects with
 * {@link EngineError} when the protocol refuses its input, and the error never carries a secret. What a call is given
 * is copied before the call returns.
 * Lengths and layouts are those of @ika.xyz/sdk 0.4.1.
 */
export interface CryptoEngine {
  /** Loads what the engine needs, so that the first real call does not pay for it. */
  ready(): Promise<void>;
  /** The protocol parameters that the other calls take, from an output of the network key. */
  buildParameters(input: BuildParametersInput): Promise<Uint8Array>;
  /** The keys of a seed on one curve: the very keys of the Ika SDK's `UserShareEncryptionKeys.fromRootSeedKey`. */
  deriveUserKeys(input: DeriveUserKeysInput): Promise<UserKeys>;
  /** The user's DKG message for a share, bound to a session, and the share encrypted to the user. */
  prepareDkg(input: PrepareDkgInput): Promise<PreparedDkg>;
  /** The user's secret share out of its encryption. */
  decryptShare(input: DecryptShareInput): Promise<SecretBytes>;
  /** True if a dWallet's public output is one that the user's share and the network's key lead to, in both halves. */
  isOutputOfShare(input: OutputOfShareInput): Promise<boolean>;
  /** The Ed25519 signature of a user's signer, 64 bytes: over an encryption key, or over a dWallet's public output. */
  signAsUser(input: SignAsUserInput): Promise<Uint8Array>;
  /** The user's half of one signature. It must never be computed twice for one presign with different messages. */
  createSignMessage(input: CreateSignMessageInput): Promise<Uint8Array>;
  /** Ends the engine and overwrites what it holds. Calls that run or wait reject, and so do later ones. */
  close(): Promise<void>;
}

/** Thrown when the protocol refuses an input, or an engine is closed. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

/** Options of every heavy call. */
export interface Abortable {
  /** Ends the computation with the signal's reason. An engine that cannot be interrupted ignores it. */
  readonly signal?: AbortSignal | undefined;
}

/** An output of the network key, as the chain has it. */
export interface BuildParametersInput extends Abortable {
  readonly curve: CurveName;
  readonly networkKeyOutput: Uint8Array;
}

/** `seed`: 32 bytes, the root of all of a user's keys. It is read, not kept. */
export interface DeriveUserKeysInput extends Abortable {
  readonly curve: CurveName;
  readonly seed: Uint8Array;
}

/** A user's keys on one curve. Destroy them after use. */
export interface UserKeys extends Disposable {
  readonly curve: CurveName;
  /** The class-groups encryption key as registered on chain, 261 bytes. */
  readonly encryptionKey: Uint8Array;
  /** The class-groups decryption key, 194 bytes. */
  readonly decryptionKey: SecretBytes;
  /** The Ed25519 public key that signs for the encryption key and for outputs, 32 bytes. */
  readonly signerPublicKey: Uint8Array;
  /** The Sui address of the signer: the name of the user. */
  readonly signerAddress: string;
  /** The Ed25519 secret key of the signer, 32 bytes. */
  readonly signerSecretKey: SecretBytes;
  /** Overwrites the secrets. */
  destroy(): void;
}

/** Input of {@link CryptoEngine.prepareDkg}. */
export interface PrepareDkgInput extends Abortable {
  readonly curve: CurveName;
  /** What `deriveUserShare` gave: an engine does not choose the share. It is read, not kept. */
  readonly userSecretKeyShare: SecretBytes;
  /** The digest of the DKG's session identifier, 32 bytes. */
  readonly sessionDigest: Uint8Array;
  /** The protocol's public parameters for this curve and network encryption key. */
  readonly parameters: Uint8Array;
  /** The user's encryption key, 261 bytes. */
  readonly encryptionKey: Uint8Array;
}

/** The contents of a DKG request. They do not reveal the share. */
export interface PreparedDkg {
  readonly userDkgMessage: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  readonly encryptedUserShareAndProof: Uint8Array;
}

/** An encrypted share with what opens and checks it. */
export interface DecryptShareInput extends Abortable {
  readonly curve: CurveName;
  readonly parameters: Uint8Array;
  readonly decryptionKey: SecretBytes;
  /** The dWallet's public output. */
  readonly dwalletOutput: Uint8Array;
  readonly encryptedShareAndProof: Uint8Array;
}

/** A share, and the public output that it is said to lead to. */
export interface OutputOfShareInput extends Abortable {
  readonly curve: CurveName;
  readonly parameters: Uint8Array;
  readonly userSecretKeyShare: SecretBytes;
  readonly dwalletOutput: Uint8Array;
}

/** Input of {@link CryptoEngine.signAsUser}. */
export interface SignAsUserInput extends Abortable {
  readonly signerSecretKey: SecretBytes;
  readonly message: Uint8Array;
}

/** One message and what it is signed with. */
export interface CreateSignMessageInput extends Abortable {
  readonly triple: AlgorithmTriple;
  readonly parameters: Uint8Array;
  readonly dwalletOutput: Uint8Array;
  readonly userSecretKeyShare: SecretBytes;
  readonly presign: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
}
