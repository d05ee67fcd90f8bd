import type { ActionOptions } from "./action.ts";
import type { Curve, Hash, SignatureAlgorithm } from "./names.ts";

/** The stages of a signature, in order. `queued` and `submitted` are the service's own words for where it stands. */
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

/** What a signature takes. */
export interface SignArgs {
  /** The 32 bytes that the dWallet was made with. */
  readonly seed: Uint8Array;
  readonly dwalletId: string;
  readonly curve: Curve;
  readonly signatureAlgorithm: SignatureAlgorithm;
  readonly hashScheme: Hash;
  /** The message before hashing, 1 to 16,381 bytes. */
  readonly message: Uint8Array;
  /** The user's share from the onboarding. If absent, it is recovered from the seed and the chain, 2 s more. */
  readonly userSecretKeyShareHex?: string | undefined;
  /** Default 180,000. */
  readonly timeoutMs?: number | undefined;
}

/** Options of a signature. */
export interface SignOptions extends ActionOptions<SignStage> {
  /**
   * Names this signature: the same key with the same arguments is the same request and is charged once. Default a
   * random one, which errors carry in their metadata.
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
  /** The transaction that asked the network to sign. */
  readonly txDigest: string | null;
}
