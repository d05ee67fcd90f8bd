import type { SignArgs, TssClient } from "../sdk/index.ts";

/** A dWallet and the secret that signs with it. Its fields are those of `client.sign`. */
export type SigningKey = Pick<
  SignArgs,
  "seed" | "dwalletId" | "sessionDigestHex" | "userSecretKeyShareHex" | "acceptUnverifiedShare" | "timeoutMs"
>;

/** The client methods that a signer uses. */
export type SigningClient = Pick<TssClient, "readKey" | "sign" | "signMany">;

/** A dWallet whose public key the caller knows. */
export interface KnownKey extends SigningKey {
  /**
   * The `publicKeyHex` that `onboard` and `readKey` return. The signer compares it with the chain's before it signs
   * anything.
   */
  readonly publicKeyHex: string;
}
