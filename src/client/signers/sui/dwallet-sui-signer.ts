import { type PublicKey, type SignatureScheme, Signer } from "@mysten/sui/cryptography";
import { Ed25519PublicKey } from "@mysten/sui/keypairs/ed25519";
import { Secp256k1PublicKey } from "@mysten/sui/keypairs/secp256k1";
import { Secp256r1PublicKey } from "@mysten/sui/keypairs/secp256r1";
import type { SuiScheme } from "../../../protocol/signatures/addresses.ts";
import type { SignOptions } from "../../sdk/index.ts";
import {
  createMessageSigner,
  type KnownKey,
  type MessageAlgorithm,
  type MessageSigner,
  type SigningClient,
  type SigningKey,
  withPublicKey,
} from "../message-signer.ts";

/**
 * A Sui signer for a dWallet. Sui's SDK hashes transactions and personal messages before it calls the signer, as for
 * all of its signers. The signer does not check a transaction's sender; a fullnode does.
 *
 * @example
 * const signer = await createDWalletSuiSigner(client, { seed, dwalletId, curve: "ED25519" });
 * await signer.signAndExecuteTransaction({ transaction, client: sui });
 */
export class DWalletSuiSigner extends Signer {
  readonly #client: SigningClient;
  readonly #key: KnownSuiKey;
  readonly #options: SignOptions;
  readonly #signer: MessageSigner;

  /**
   * Creates a signer whose public key is known, without a read. The first signature compares the public key with the
   * chain's before it costs anything.
   *
   * @throws {TssError} VALIDATION when the key is malformed.
   *
   * @example
   * const signer = new DWalletSuiSigner(client, { seed, dwalletId, curve: "ED25519", publicKeyHex });
   */
  constructor(client: SigningClient, key: KnownSuiKey, options: SignOptions = {}) {
    super();
    this.#client = client;
    this.#key = key;
    this.#options = options;
    this.#signer = createMessageSigner(client, key, SCHEMES[key.curve].algorithm, options);
  }

  /**
   * Returns the same signer with other options: an idempotency key, an abort signal, a progress listener.
   *
   * @example
   * await signer.withOptions({ idempotencyKey: "payout-7" }).signTransaction(bytes);
   */
  withOptions(options: SignOptions): DWalletSuiSigner {
    return new DWalletSuiSigner(this.#client, this.#key, { ...this.#options, ...options });
  }

  override getKeyScheme(): SignatureScheme {
    return SCHEMES[this.#key.curve].scheme;
  }

  override getPublicKey(): PublicKey {
    return new SCHEMES[this.#key.curve].publicKey(this.#signer.publicKey);
  }

  /** Signs the digest of an intent message. Failures are TssErrors. */
  override async sign(bytes: Uint8Array): Promise<Uint8Array<ArrayBuffer>> {
    // Sui's signatures contain no recovery id.
    return Uint8Array.from((await this.#signer.sign(bytes)).subarray(0, 64));
  }
}

/**
 * The algorithms of Sui's schemes. Each takes the 32-byte digest of an intent message as its message and hashes it
 * again.
 */
const SCHEMES = {
  ED25519: {
    algorithm: { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" },
    scheme: "ED25519",
    publicKey: Ed25519PublicKey,
  },
  SECP256K1: {
    algorithm: { curve: "SECP256K1", signatureAlgorithm: "ECDSASecp256k1", hashScheme: "SHA256" },
    scheme: "Secp256k1",
    publicKey: Secp256k1PublicKey,
  },
  SECP256R1: {
    algorithm: { curve: "SECP256R1", signatureAlgorithm: "ECDSASecp256r1", hashScheme: "SHA256" },
    scheme: "Secp256r1",
    publicKey: Secp256r1PublicKey,
  },
} as const satisfies Record<
  SuiScheme,
  {
    algorithm: MessageAlgorithm;
    scheme: SignatureScheme;
    publicKey: new (bytes: Uint8Array) => PublicKey;
  }
>;

/** A dWallet on one of the three curves that Sui supports. */
export interface SuiKey extends SigningKey {
  readonly curve: SuiScheme;
}

/** A {@link SuiKey} with its public key. */
export interface KnownSuiKey extends SuiKey, KnownKey {}

/**
 * Creates a Sui signer for a dWallet. It reads the public key from the chain and proves it with the seed.
 *
 * @throws {TssError} VALIDATION when the key is malformed.
 * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
 *
 * @example
 * const signer = await createDWalletSuiSigner(client, { seed, dwalletId, curve: "ED25519" });
 */
export async function createDWalletSuiSigner(
  client: SigningClient,
  key: SuiKey,
  options: SignOptions = {},
): Promise<DWalletSuiSigner> {
  const { publicKeyHex } = await withPublicKey(client, key, key.curve, options);
  return new DWalletSuiSigner(client, { ...key, publicKeyHex }, options);
}
