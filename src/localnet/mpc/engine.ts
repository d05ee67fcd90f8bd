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
  /** Verifies the user's DKG proof and the encrypted share's proof. Completes with the dWallet's public output. */
  dkg(input: NetworkDkgInput): Promise<MpcOutcome>;
  /** Makes a presign for `sessionId`. Completes with the versioned presign. */
  presign(input: NetworkPresignInput): Promise<MpcOutcome>;
  /** Verifies the user's sign message. Completes with the signature as the chain stores it. */
  sign(input: NetworkSignInput): Promise<MpcOutcome>;
  /** Ends the worker. Pending calls reject. */
  close(): Promise<void>;
}

/** The result of a session. `rejected` means that the protocol rejects the input; a crash is an error instead. */
export type MpcOutcome =
  | { readonly kind: "completed"; readonly output: Uint8Array }
  | { readonly kind: "rejected"; readonly reason: string };

/**
 * A DKG request. `sessionId` is keccak256(u64be(0) || "USER" || session identifier preimage), 32 bytes. All other byte
 * strings are as in the request event.
 */
export interface NetworkDkgInput {
  readonly curve: number;
  readonly sessionId: Uint8Array;
  readonly userDkgMessage: Uint8Array;
  readonly userPublicOutput: Uint8Array;
  readonly encryptedShareAndProof: Uint8Array;
  /** The registered class-groups encryption key under which the share is encrypted (261 bytes). */
  readonly encryptionKey: Uint8Array;
}

/**
 * A presign request for a curve's algorithm. It does not depend on a hash, a dWallet or a message.
 * `sessionId`: 32 bytes, as in {@link NetworkDkgInput}.
 */
export interface NetworkPresignInput {
  readonly curve: number;
  readonly signatureAlgorithm: number;
  readonly sessionId: Uint8Array;
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
  | { readonly method: "presign"; readonly input: NetworkPresignInput }
  | { readonly method: "sign"; readonly input: NetworkSignInput };

/** An outcome, or an error of the worker's own code. */
export type MpcAnswer = MpcOutcome | { readonly kind: "failed"; readonly message: string };
