import type { TreasuryConsent } from "../protocol/treasury-consent.ts";
import type { OwnedRef } from "./treasury/treasury-calls.ts";

/**
 * Adds the service's Move calls to a transaction block. All shared objects are passed by explicit reference. Paid calls
 * go through the Treasury. Registering a key and accepting a share cost only gas and call the coordinator directly.
 */
export interface ChainCalls {
  /** Splits coins of these amounts from the gas coins, for the same owner. */
  splitGas(amountsMist: readonly bigint[]): void;
  /** Makes a coin of a part of the gas owner's address balance. The gas owner must be the sender, and keeps the coin. */
  redeemGas(amountMist: bigint): void;
  /** Transfers the sender's coins, in exactly these versions, and a part of its address balance, to an address. */
  transferCoins(call: {
    coins: readonly OwnedRef[];
    /** In the coin's smallest unit. The recipient gets it as a coin. */
    withdrawal?: { readonly coinType: string; readonly amount: bigint } | undefined;
    recipient: string;
  }): void;
  registerEncryptionKey(call: {
    curve: number;
    encryptionKey: Uint8Array;
    signature: Uint8Array;
    signerPublicKey: Uint8Array;
  }): void;
  /** Executes a consent that the owner of a dWallet has signed. Needs no capability of the service. */
  useConsent(
    call: TreasuryConsent & { readonly publicKey: Uint8Array; readonly signature: Uint8Array },
  ): void;
  payDkg(call: {
    networkEncryptionKeyId: string;
    curve: number;
    userDkgMessage: Uint8Array;
    encryptedUserShareAndProof: Uint8Array;
    /** Sui address of the signer whose registered key the share is encrypted under. */
    encryptionKeyAddress: string;
    userPublicOutput: Uint8Array;
    signerPublicKey: Uint8Array;
    sessionBytes: Uint8Array;
    /** The service's own id of the request, put into the Treasury's event. */
    requestReference: Uint8Array;
  }): void;
  acceptEncryptedUserShare(call: {
    dwalletId: string;
    encryptedUserSecretKeyShareId: string;
    userOutputSignature: Uint8Array;
  }): void;
  payPresigns(call: {
    networkEncryptionKeyId: string;
    curve: number;
    signatureAlgorithm: number;
    sessionBytes: readonly Uint8Array[];
  }): void;
  paySign(call: {
    dwalletId: string;
    presignId: string;
    curve: number;
    signatureAlgorithm: number;
    hashScheme: number;
    message: Uint8Array;
    userSignMessage: Uint8Array;
    sessionBytes: Uint8Array;
    requestReference: Uint8Array;
  }): void;
}
