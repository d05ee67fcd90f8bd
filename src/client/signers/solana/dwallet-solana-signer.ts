import {
  type Address,
  address,
  type MessagePartialSigner,
  type SignatureDictionary,
  signatureBytes,
  type TransactionPartialSigner,
} from "@solana/kit";
import { solanaAddress } from "../../../protocol/signatures/addresses.ts";
import { invalid } from "../../sdk/checks.ts";
import type { SignOptions } from "../../sdk/index.ts";
import {
  createMessageSigner,
  type KnownKey,
  type SigningClient,
  type SigningKey,
  withPublicKey,
} from "../message-signer.ts";

/**
 * Creates Solana Kit's signer for a dWallet whose public key is known, without a read. The first signature compares the
 * public key with the chain's before it costs anything.
 *
 * @throws {TssError} VALIDATION when the key is malformed.
 *
 * @example
 * const signer = dwalletSolanaSigner(client, { seed, dwalletId, publicKeyHex });
 */
export function dwalletSolanaSigner(
  client: SigningClient,
  key: KnownKey,
  options: SignOptions = {},
): DWalletSolanaSigner {
  const signer = createMessageSigner(client, key, ALGORITHM, options);
  const own: Address = address(solanaAddress(signer.publicKey));
  const signAll = async (
    messages: readonly Uint8Array[],
    abortSignal: AbortSignal | undefined,
  ): Promise<readonly SignatureDictionary[]> => {
    const signatures = await signer.signAll(messages, abortSignal && { signal: abortSignal });
    return signatures.map((signature) => Object.freeze({ [own]: signatureBytes(signature) }));
  };
  return Object.freeze<DWalletSolanaSigner>({
    address: own,
    async signTransactions(transactions, { abortSignal } = {}) {
      for (const [index, { signatures }] of transactions.entries()) {
        if (!Object.hasOwn(signatures, own))
          throw invalid(`transactions[${index}]`, `does not ask for a signature of ${own}`);
      }
      const messages = transactions.map(({ messageBytes }) => Uint8Array.from(messageBytes));
      return await signAll(messages, abortSignal);
    },
    signMessages: (messages, { abortSignal } = {}) =>
      signAll(
        messages.map(({ content }) => content),
        abortSignal,
      ),
    withOptions: (changed) => dwalletSolanaSigner(client, key, { ...options, ...changed }),
  });
}

/**
 * Solana Kit's signer of transactions and messages, for a dWallet. It can sign several at once, each with its own
 * presign and charge. Failures of the client are TssErrors.
 */
export type DWalletSolanaSigner = TransactionPartialSigner &
  MessagePartialSigner & {
    /**
     * Returns the same signer with other options: an idempotency key, a progress listener. With an idempotency key, the
     * transaction at index 2 of a call uses the key with `/2` appended.
     *
     * @example
     * await signer.withOptions({ idempotencyKey: "payout-7" }).signTransactions([transaction]);
     */
    withOptions(options: SignOptions): DWalletSolanaSigner;
  };

const ALGORITHM = { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;

/**
 * Creates Solana Kit's signer for a dWallet on Ed25519. It reads the public key from the chain and proves it with the
 * seed.
 *
 * @throws {TssError} VALIDATION when the key is malformed.
 * @throws {TssError} SHARE_UNVERIFIED when the share is not derived from the seed.
 *
 * @example
 * const signer = await createDWalletSolanaSigner(client, { seed, dwalletId });
 */
export async function createDWalletSolanaSigner(
  client: SigningClient,
  key: SigningKey,
  options: SignOptions = {},
): Promise<DWalletSolanaSigner> {
  return dwalletSolanaSigner(client, await withPublicKey(client, key, ALGORITHM.curve, options), options);
}
