import type { AlgorithmTriple, CurveName } from "../../protocol/algorithms.ts";
import type { SecretBytes } from "./secret-bytes.ts";

/**
 * The heavy computations of the user's half of the protocol: class-groups keys, DKG, decryption and sign messages.
 * An engine works on the caller's thread or on others. It never accesses the network. Every call copies its input
 * before it returns. It rejects with {@link EngineError} if the protocol rejects the input; the error never contains a
 * secret. Lengths and layouts are those of @ika.xyz/sdk 0.4.1.
 */
export interface CryptoEngine {
  /**
   * True if `createSignMessage` derives all random numbers of a half from the share and from everything that the half
   * depends on, as `docs/user-share.md` specifies. Then the halves of two messages share no random number, even with
   * one presign, and a client goes on if the service offers a presign again. Default false: a client makes one half for
   * each presign. An engine that wraps another one and computes halves itself must set it for its own halves.
   */
  readonly derivesRandomness?: boolean;
  /** Loads the engine's code, so that the first call is fast. */
  ready(): Promise<void>;
  /** Derives the protocol parameters for the other calls from an output of the network key. */
  buildParameters(input: BuildParametersInput): Promise<Uint8Array>;
  /** Derives a seed's keys on one curve, equal to those of the Ika SDK's `UserShareEncryptionKeys.fromRootSeedKey`. */
  deriveUserKeys(input: DeriveUserKeysInput): Promise<UserKeys>;
  /** Computes the user's DKG message for a share, bound to a session, and encrypts the share to the user. */
  prepareDkg(input: PrepareDkgInput): Promise<PreparedDkg>;
  /**
   * Splits a private key of the user between the user and the network, bound to a session, and encrypts the user's share
   * to the user.
   */
  prepareImport(input: PrepareImportInput): Promise<PreparedDkg>;
  /** Decrypts the user's secret share and checks it against the dWallet's public output. */
  decryptShare(input: DecryptShareInput): Promise<SecretBytes>;
  /**
   * Returns whether both halves of a dWallet's public output follow from the user's share and the network key, or from
   * the share and the public key of an imported key.
   */
  isOutputOfShare(input: OutputOfShareInput): Promise<boolean>;
  /** Signs an encryption key or a dWallet's public output with the user's Ed25519 signer. Returns 64 bytes. */
  signAsUser(input: SignAsUserInput): Promise<Uint8Array>;
  /**
   * Computes the user's half of one signature. Never call it for one presign with two different messages, unless
   * `derivesRandomness` is true.
   */
  createSignMessage(input: CreateSignMessageInput): Promise<Uint8Array>;
  /** Closes the engine and overwrites its secrets. Running, waiting and later calls reject. */
  close(): Promise<void>;
}

/** Thrown if the protocol rejects an input, a result fails its check, or the engine is closed or broken. */
export class EngineError extends Error {
  override readonly name = "EngineError";
}

/** Options of every heavy call. */
export interface Abortable {
  /** Aborts the computation with the signal's reason. An engine that cannot be interrupted ignores it. */
  readonly signal?: AbortSignal | undefined;
}

/** An output of the network key, as the chain stores it. */
export interface BuildParametersInput extends Abortable {
  readonly curve: CurveName;
  readonly networkKeyOutput: Uint8Array;
}

/**
 * Input of {@link CryptoEngine.deriveUserKeys}. `seed` is the root of all of a user's keys, 32 bytes. Not kept after
 * the call.
 */
export interface DeriveUserKeysInput extends Abortable {
  readonly curve: CurveName;
  readonly seed: Uint8Array;
}

/** A user's keys on one curve. Destroy them after use. */
export interface UserKeys extends Disposable {
  readonly curve: CurveName;
  /** The class-groups encryption key as registered on the chain, 261 bytes. */
  readonly encryptionKey: Uint8Array;
  /** The class-groups decryption key, 194 bytes. */
  readonly decryptionKey: SecretBytes;
  /** The Ed25519 public key that verifies the signatures over the encryption key and over outputs, 32 bytes. */
  readonly signerPublicKey: Uint8Array;
  /** The Sui address of the signer, which identifies the user. */
  readonly signerAddress: string;
  /** The Ed25519 secret key of the signer, 32 bytes. */
  readonly signerSecretKey: SecretBytes;
  /** Overwrites the secrets. */
  destroy(): void;
}

/** Input of {@link CryptoEngine.prepareDkg}. */
export interface PrepareDkgInput extends Abortable {
  readonly curve: CurveName;
  /** The result of `deriveUserShare`. Not kept after the call. */
  readonly userSecretKeyShare: SecretBytes;
  /** The digest of the DKG's session identifier, 32 bytes. */
  readonly sessionDigest: Uint8Array;
  /** The protocol's public parameters for this curve and network encryption key. */
  readonly parameters: Uint8Array;
  /** The user's encryption key, 261 bytes. */
  readonly encryptionKey: Uint8Array;
}

/** Input of {@link CryptoEngine.prepareImport}. */
export interface PrepareImportInput extends PrepareDkgInput {
  /**
   * The key to import, 32 bytes: of SECP256K1 and SECP256R1 the number in big-endian, of ED25519 the seed of RFC 8032, of
   * RISTRETTO the number in little-endian. Not kept after the call.
   */
  readonly privateKey: SecretBytes;
}

/** The contents of a request of a DKG or of an import. They do not reveal the share, nor an imported key. */
export interface PreparedDkg {
  readonly userDkgMessage: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  readonly encryptedUserShareAndProof: Uint8Array;
}

/** An encrypted share with the inputs that decrypt and check it. */
export interface DecryptShareInput extends Abortable {
  readonly curve: CurveName;
  readonly parameters: Uint8Array;
  readonly decryptionKey: SecretBytes;
  /** The dWallet's public output. */
  readonly dwalletOutput: Uint8Array;
  readonly encryptedShareAndProof: Uint8Array;
}

/** A share and the public output to compare it with. */
export interface OutputOfShareInput extends Abortable {
  readonly curve: CurveName;
  readonly parameters: Uint8Array;
  readonly userSecretKeyShare: SecretBytes;
  readonly dwalletOutput: Uint8Array;
  /**
   * The public key that the output of an imported key must have. Without it no such output belongs to a share. Default:
   * the output must be of a DKG.
   */
  readonly importedPublicKey?: Uint8Array | undefined;
}

/** Input of {@link CryptoEngine.signAsUser}. */
export interface SignAsUserInput extends Abortable {
  readonly signerSecretKey: SecretBytes;
  readonly message: Uint8Array;
}

/** Input of {@link CryptoEngine.createSignMessage}. */
export interface CreateSignMessageInput extends Abortable {
  readonly triple: AlgorithmTriple;
  readonly parameters: Uint8Array;
  readonly dwalletOutput: Uint8Array;
  readonly userSecretKeyShare: SecretBytes;
  readonly presign: Uint8Array;
  /** The message before hashing. */
  readonly message: Uint8Array;
}
