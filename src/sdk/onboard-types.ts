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

/** What an onboarding takes. */
export interface OnboardArgs {
  /** 32 bytes: the root of the user's keys. It never leaves this process and is not kept. */
  readonly seed: Uint8Array;
  readonly curve: Curve;
  /** Default 600,000. */
  readonly timeoutMs?: number | undefined;
}

/** A new dWallet. */
export interface OnboardResult {
  readonly dwallet: { readonly id: string; readonly curve: Curve };
  /** The dWallet's public key, in hex: 33 bytes compressed for the secp curves, else 32. It is the one on the chain. */
  readonly publicKeyHex: string;
  /** What the public key is called on the chains that it can sign for. */
  readonly addresses: readonly NamedAddress[];
  /** The user's secret: keep it like the seed. It can be derived again from the seed and `sessionDigestHex`. */
  readonly userSecretKeyShareHex: string;
  readonly userPublicOutputHex: string;
  readonly encryptedUserSecretKeyShareId: string;
  /**
   * The digest of the DKG's session identifier, from which the share is derived. It is public. Keep it with the
   * dWallet's id: with it the share is recovered without the service, however much of the past the fullnodes forgot.
   */
  readonly sessionDigestHex: string;
  /** The transactions that requested the DKG and accepted the share; null if another sender accepted it. */
  readonly txDigests: { readonly onboard: string; readonly accept: string | null };
}
