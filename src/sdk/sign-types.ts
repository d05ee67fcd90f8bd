import type { ActionOptions } from "./action.ts";
import type { Hash, SignatureAlgorithm } from "./names.ts";
import type { ShareSource } from "./recover-share.ts";

/** The stages of a signature, in order. `queued` and `submitted` are states that the service reports. */
export type SignStage =
  | "dwallet"
  | "parameters"
  | "share"
  | "reserve"
  | "compute"
  | "submit"
  | "queued"
  | "submitted"
  | "verify";

/** Arguments of `sign`. */
export interface SignArgs extends ShareSource {
  readonly dwalletId: string;
  readonly signatureAlgorithm: SignatureAlgorithm;
  readonly hashScheme: Hash;
  /** The message before hashing, 1 to 16,381 bytes. */
  readonly message: Uint8Array;
  /**
   * The user's share from the onboarding. The client checks that it fits the dWallet, but not that it follows from the
   * seed. Default: derive it from the seed and check it, which asks the service for the DKG's session unless
   * `sessionDigestHex` is given.
   */
  readonly userSecretKeyShareHex?: string | undefined;
  /** The time limit of the action, in milliseconds. Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a signature. */
export interface SignOptions extends ActionOptions<SignStage> {
  /**
   * The idempotency key: the same key with the same arguments is the same request and is charged once. Default: a
   * random key, which errors carry in their metadata.
   */
  readonly idempotencyKey?: string | undefined;
}

/** A verified signature. */
export interface SignResult {
  /** ECDSA: 65 bytes r, s, v with low s; v is the recovery id. Others: 64 bytes. */
  readonly signature: Uint8Array;
  readonly signRequestId: string;
  /** The object id of the sign session on the chain. */
  readonly signSessionId: string;
  /** The digest of the transaction that requested the signature from the network. */
  readonly txDigest: string | null;
}
