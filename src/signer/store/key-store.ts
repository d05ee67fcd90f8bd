import type { Curve } from "../../client/sdk/index.ts";

/**
 * Keeps the seeds of keys. A key is durable when {@link KeyStore.add} resolves: the signer submits nothing for it
 * earlier. An encrypted file, HashiCorp Vault and the memory implement it.
 */
export interface KeyStore {
  /** Returns the key of a name, or undefined. */
  find(name: string): StoredKey | undefined;
  /** Returns all keys in the order of their names. */
  list(): readonly StoredKey[];
  /**
   * Adds a key, and returns the key that the store then has. This is another one if another signer has added this name
   * to a store that they share: its seed counts. Throws if {@link KeyStore.find} returns a key of this name.
   */
  add(key: StoredKey): Promise<StoredKey>;
  /** Replaces the progress of a key. The name, the curve and the seed of a key never change. */
  setProgress(name: string, progress: KeyProgress): Promise<void>;
  /** Waits for the last write, and lets other processes use the store. */
  close(): Promise<void>;
}

/** A key with its seed. */
export interface StoredKey {
  readonly name: string;
  readonly curve: Curve;
  /** The user of the project that the key belongs to. Undefined for none. */
  readonly userReference?: string | undefined;
  /** 32 bytes, which belong to this key alone: random, or derived from a master seed. */
  readonly seed: Uint8Array;
  readonly createTimeMs: number;
  readonly progress: KeyProgress;
}

/** How far the onboarding of a key is. */
export type KeyProgress =
  /** Not Active yet. `resumeToken` continues the onboarding; it is undefined if none has begun. */
  | { readonly kind: "creating"; readonly resumeToken?: string | undefined }
  | { readonly kind: "active"; readonly dwallet: ActiveDWallet };

/** The public facts of an Active dWallet. The client has proven that the seed leads to the public key. */
export interface ActiveDWallet {
  readonly dwalletId: string;
  readonly publicKeyHex: string;
  /** Derives the share from the seed without the service. */
  readonly sessionDigestHex: string;
}
