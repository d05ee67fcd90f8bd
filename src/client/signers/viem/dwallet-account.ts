import { secp256k1 } from "@noble/curves/secp256k1.js";
import {
  type Address,
  bytesToHex,
  getAddress,
  type Hex,
  hexToBytes,
  isAddressEqual,
  type NonceManager,
  type Signature,
  serializeSignature,
  serializeTransaction,
  type TransactionSerializable,
  toPrefixedMessage,
} from "viem";
import { type CustomSource, type LocalAccount, toAccount } from "viem/accounts";
import { ethereumAddress } from "../../../protocol/signatures/addresses.ts";
import { invalid } from "../../sdk/checks.ts";
import type { SignOptions } from "../../sdk/index.ts";
import {
  createMessageSigner,
  type KnownKey,
  type MessageSigner,
  type SigningClient,
  type SigningKey,
  withPublicKey,
} from "../message-signer.ts";
import { toViemError } from "./dwallet-signing-error.ts";
import { authorizationPreImage, typedDataPreImage } from "./pre-images.ts";

/**
 * Creates viem's account for a dWallet whose public key is known, without a read. The first signature compares the
 * public key with the chain's before it costs anything.
 *
 * @throws {DWalletSigningError} VALIDATION when the key is malformed.
 *
 * @example
 * const account = dwalletAccount(client, { seed, dwalletId, publicKeyHex });
 */
export function dwalletAccount(
  client: SigningClient,
  key: KnownKey,
  options: DWalletAccountOptions = {},
): DWalletAccount {
  const { nonceManager, ...signOptions } = options;
  const signer = makeSigner(client, key, signOptions);
  const address = getAddress(ethereumAddress(signer.publicKey));
  const signAuthorization: DWalletAccount["signAuthorization"] = async (request) => {
    const { chainId, nonce } = request;
    const delegate = request.contractAddress ?? request.address;
    return { address: delegate, chainId, nonce, ...(await sign(signer, authorizationPreImage(request))) };
  };
  const account = toAccount({
    address,
    nonceManager,
    signAuthorization,
    signMessage: async ({ message }) => serializeSignature(await sign(signer, toPrefixedMessage(message))),
    signTypedData: async (parameters) =>
      serializeSignature(await sign(signer, typedDataPreImage(parameters))),
    async signTransaction(given, { serializer = serializeTransaction } = {}) {
      // A copy, because the caller may change its object before the transaction is sent.
      const transaction = { ...given };
      checkSender(transaction, address);
      // The sidecars of EIP-4844 are not part of the signed payload.
      const isBlob = transaction.type === "eip4844" || transaction.blobs || transaction.sidecars;
      const unsigned = await serializer(isBlob ? { ...transaction, sidecars: false } : transaction);
      return await serializer(transaction, await sign(signer, unsigned));
    },
  });
  return {
    ...account,
    signAuthorization,
    source: "custom",
    publicKey: bytesToHex(secp256k1.Point.fromBytes(signer.publicKey).toBytes(false)),
    withOptions: (changed) => dwalletAccount(client, key, { ...options, ...changed }),
  };
}

/** Options of an account: those of its signatures, and viem's nonce manager. */
export interface DWalletAccountOptions extends SignOptions {
  /** Assigns nonces, as in viem's own accounts. Default: none. */
  readonly nonceManager?: NonceManager | undefined;
}

/**
 * viem's local account for a dWallet. It has no `sign({ hash })`: the network hashes the message, so a bare hash cannot
 * be signed.
 */
export type DWalletAccount = LocalAccount<"custom"> & {
  readonly signAuthorization: NonNullable<CustomSource["signAuthorization"]>;
  /**
   * Returns the same account with other options: an idempotency key, an abort signal, a progress listener.
   *
   * @example
   * await wallet.sendTransaction({ account: account.withOptions({ idempotencyKey: "payout-7" }), to, value });
   */
  withOptions(options: DWalletAccountOptions): DWalletAccount;
};

const ALGORITHM = {
  curve: "SECP256K1",
  signatureAlgorithm: "ECDSASecp256k1",
  hashScheme: "KECCAK256",
} as const;

/**
 * Creates viem's account for a dWallet on secp256k1. It reads the public key from the chain and proves it with the
 * seed.
 *
 * @throws {DWalletSigningError} VALIDATION when the key is malformed.
 * @throws {DWalletSigningError} SHARE_UNVERIFIED when the share is not derived from the seed.
 *
 * @example
 * const account = await createDWalletAccount(client, { seed, dwalletId });
 */
export async function createDWalletAccount(
  client: SigningClient,
  key: SigningKey,
  options: DWalletAccountOptions = {},
): Promise<DWalletAccount> {
  const known = await withPublicKey(client, key, ALGORITHM.curve, options).catch(rethrow);
  return dwalletAccount(client, known, options);
}

function makeSigner(client: SigningClient, key: KnownKey, options: SignOptions): MessageSigner {
  try {
    return createMessageSigner(client, key, ALGORITHM, options);
  } catch (error) {
    throw toViemError(error);
  }
}

function rethrow(error: unknown): never {
  throw toViemError(error);
}

/** Signs the Keccak-256 of a pre-image. */
async function sign(signer: MessageSigner, preImage: Hex): Promise<Required<Signature>> {
  const signature = await signer.sign(hexToBytes(preImage)).catch(rethrow);
  const yParity = signature[64]!;
  return {
    r: bytesToHex(signature.subarray(0, 32)),
    s: bytesToHex(signature.subarray(32, 64)),
    v: BigInt(27 + yParity),
    yParity,
  };
}

/**
 * Refuses a transaction from another sender, because this signature would be worthless. viem's requests may name the
 * sender.
 */
function checkSender(transaction: TransactionSerializable & { from?: Address }, address: Address): void {
  const { from } = transaction;
  if (from !== undefined && from !== null && !isAddressEqual(from, address))
    throw toViemError(invalid("from", `is ${from}, and this account is ${address}`));
}
