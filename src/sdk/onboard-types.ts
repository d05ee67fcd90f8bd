import type { NamedAddress } from "../protocol/addresses.ts";
import type { Curve } from "./names.ts";

/** The stages of an onboarding, in order. */
export type OnboardStage =
  | "network"
  | "parameters"
  | "keys"
  | "register"
  | "prepare"
  | "create"
  | "dkg"
  | "accept"
  | "activate";

/** Arguments of `onboard`. */
export interface OnboardArgs {
  /** The root of the user's keys, 32 bytes. The seed never leaves this process, and the client does not keep it. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  /** The time limit of the action, in milliseconds. Default 600,000. */
  readonly timeoutMs?: number | undefined;
}

/** A dWallet that is ready to sign. */
export interface OnboardResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key from the chain, in hex: 33 bytes compressed for the secp curves, else 32. */
  readonly publicKeyHex: string;
  /** The public key's addresses on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
  /** The user's secret share, in hex. Protect it like the seed. The seed and `sessionDigestHex` derive it again. */
  readonly userSecretKeyShareHex: string;
  readonly userPublicOutputHex: string;
  readonly encryptedUserSecretKeyShareId: string;
  /**
   * The digest of the DKG's session identifier, from which the share is derived. It is public. Keep it with the
   * dWallet's id: it recovers the share without the service, even after the fullnodes have pruned the DKG's
   * transaction.
   */
  readonly sessionDigestHex: string;
  /**
   * The digests of the transactions that requested the DKG and accepted the share. `accept` is null when another sender
   * accepted it.
   */
  readonly txDigests: { readonly onboard: string; readonly accept: string | null };
}
