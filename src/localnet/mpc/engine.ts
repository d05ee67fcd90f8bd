/**
 * The network's half of the 2PC-MPC protocol for the localnet's contracts.
 * Every call is asynchronous because the arithmetic runs on a worker thread: the fullnode's event loop stays free.
 * Integers for curve, signature algorithm and hash scheme are the chain's (curve 0 SECP256K1, 1 SECP256R1, 2 ED25519,
 * 3 RISTRETTO; algorithms are numbered per curve, hashes per algorithm).
 */
export interface NetworkMpc {
  /** The versioned network DKG public output (BCS) that clients derive protocol parameters from. */
  networkDkgPublicOutput(): Promise<Uint8Array>;
  /** The versioned output (BCS) of the reconfiguration for an epoch. Its content for clients is the same. */
  networkReconfigurationPublicOutput(epoch: bigint): Promise<Uint8Array>;
  /** Verifies the user's DKG proof and the share. Completes with the dWallet's public output. */
  dkg(input: NetworkDkgInput): Promise<MpcOutcome>;
  /** Verifies the proofs of a user's own key. Completes with the dWallet's public output. */
  importKey(input: NetworkImportInput): Promise<MpcOutcome>;
  /** Makes a presign for `sessionId`. Completes with the versioned presign. */
  presign(input: NetworkPresignInput): Promise<MpcOutcome>;
  /** Verifies the user's sign message. Completes with the signature as the chain stores it. */
  sign(input: NetworkSignInput): Promise<MpcOutcome>;
  /** Verifies the user's sign message as {@link NetworkMpc.sign} does, for a later signature. Completes with no bytes. */
  checkUserSignature(input: NetworkSignInput): Promise<MpcOutcome>;
  /** Verifies the proof of a dWallet's share that is encrypted to another key. Completes with no bytes. */
  checkEncryptedShare(input: NetworkEncryptedShareInput): Promise<MpcOutcome>;
  /** Checks that a share that becomes public is the user's share of the dWallet. Completes with no bytes. */
  checkPublicShare(input: NetworkPublicShareInput): Promise<MpcOutcome>;
  /** Ends the worker. Pending calls reject. */
  close(): Promise<void>;
}

/** The result of a session. `rejected` means that the protocol rejects the input; a crash is an error instead. */
export type MpcOutcome =
  | {
      readonly kind: "completed";
      readonly output: Uint8Array;
      /** The signature of a DKG that signs at once. */
      readonly signature?: Uint8Array | undefined;
    }
  | { readonly kind: "rejected"; readonly reason: string };

/** A DKG request. Its share is encrypted to the user, or public. */
export type NetworkDkgInput = DkgMessages & (EncryptedUserShare | PublicUserShare);

/**
 * What every DKG request has. `sessionId` is keccak256(u64be(0) || "USER" || session identifier preimage), 32 bytes. All
 * other byte strings are as in the request event.
 */
export interface DkgMessages {
  readonly curve: number;
  readonly sessionId: Uint8Array;
  readonly userDkgMessage: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  /** A message that the new dWallet signs at once. The DKG is rejected if the user's half of it does not hold. */
  readonly sign?: Omit<NetworkSignInput, "curve" | "dwalletPublicOutput"> | undefined;
}

/** A user's share that only the owner of an encryption key can read. */
export interface EncryptedUserShare {
  readonly encryptedShareAndProof: Uint8Array;
  /** The registered class-groups encryption key under which the share is encrypted (261 bytes). */
  readonly encryptionKey: Uint8Array;
}

/** A user's share that anybody can read, as the SDK encodes it: 00 | vec(scalar). */
export interface PublicUserShare {
  readonly publicUserShare: Uint8Array;
}

/**
 * A request to accept a user's own key. `userMessage` is the user's message in the request event; the share is encrypted
 * to the user.
 */
export interface NetworkImportInput extends EncryptedUserShare {
  readonly curve: number;
  readonly sessionId: Uint8Array;
  readonly userMessage: Uint8Array;
  readonly userPublicOutput: Uint8Array;
}

/** A share of a dWallet for another owner of a key. `dwalletPublicOutput` is a result of {@link NetworkMpc.dkg}. */
export interface NetworkEncryptedShareInput extends EncryptedUserShare {
  readonly curve: number;
  readonly dwalletPublicOutput: Uint8Array;
}

/** A request to make a dWallet's share public. `dwalletPublicOutput` is a result of {@link NetworkMpc.dkg}. */
export interface NetworkPublicShareInput extends PublicUserShare {
  readonly curve: number;
  readonly dwalletPublicOutput: Uint8Array;
}

/**
 * A presign request for a curve's algorithm. It does not depend on a hash or a message, and on a dWallet only if there
 * is a `dwalletPublicOutput`. `sessionId`: 32 bytes, as in {@link DkgMessages}.
 */
export interface NetworkPresignInput {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly sessionId: Uint8Array;
  /** The output of the imported key that alone can use the presign; undefined for a global presign. */
  readonly dwalletPublicOutput?: Uint8Array | undefined;
}

/**
 * A sign request. `dwalletPublicOutput` and `presign` are results of {@link NetworkMpc.dkg} and {@link
 * NetworkMpc.presign}; `message` is the message before hashing. The caller must use a presign for one signature only:
 * the network keeps no state.
 */
export interface NetworkSignInput {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly hashScheme: number;
  readonly dwalletPublicOutput: Uint8Array;
  readonly presign: Uint8Array;
  readonly message: Uint8Array;
  readonly userSignMessage: Uint8Array;
}

export interface MpcWorkerData {
  readonly seed: Uint8Array;
  readonly cacheDirectory: string | undefined;
}

/** One call. The worker answers calls in order with one message each. */
export type MpcJob =
  | { readonly method: "networkDkgPublicOutput" }
  | { readonly method: "dkg"; readonly input: NetworkDkgInput }
  | { readonly method: "importKey"; readonly input: NetworkImportInput }
  | { readonly method: "presign"; readonly input: NetworkPresignInput }
  | { readonly method: "sign"; readonly input: NetworkSignInput }
  | { readonly method: "checkUserSignature"; readonly input: NetworkSignInput }
  | { readonly method: "checkEncryptedShare"; readonly input: NetworkEncryptedShareInput }
  | { readonly method: "checkPublicShare"; readonly input: NetworkPublicShareInput };

/** An outcome, or an error of the worker's own code. */
export type MpcAnswer = MpcOutcome | { readonly kind: "failed"; readonly message: string };
