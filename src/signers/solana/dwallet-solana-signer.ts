import {
  type Address,
  address,
  type MessagePartialSigner,
  type SignatureDictionary,
  signatureBytes,
  type TransactionPartialSigner,
} from "@solana/kit";
import { solanaAddress } from "../../protocol/addresses.ts";
import { invalid } from "../../sdk/checks.ts";
import type { SignOptions } from "../../sdk/index.ts";
import { createMessageSigner, withPublicKey } from "../message-signer.ts";
import type { KnownKey, SigningClient, SigningKey } from "../signing-key.ts";

/**
 * Solana Kit's signer of transactions and of messages over a dWallet. Several are signed at once, each with a presign
 * and a charge of its own. What it throws is a TssError.
 */
export type DWalletSolanaSigner = TransactionPartialSigner &
  MessagePartialSigner & {
    /**
     * The same signer with other options: an idempotency key, a listener for progress. With an idempotency key, the
     * transaction at index 2 of a call has the key with `/2` behind it.
     */
    withOptions(options: SignOptions): DWalletSolanaSigner;
  };

const ALGORITHM = { curve: "ED25519", signatureAlgorithm: "EdDSA", hashScheme: "SHA512" } as const;

/**
 * Makes Solana Kit's signer for a dWallet on Ed25519. It reads the public key from the chain and proves it with the seed.
 * Throws a TssError.
 */
export async function createDWalletSolanaSigner(
  client: SigningClient,
  key: SigningKey,
  options: SignOptions = {},
): Promise<DWalletSolanaSigner> {
  return dwalletSolanaSigner(client, await withPublicKey(client, key, ALGORITHM.curve, options), options);
}

/**
 * Makes Solana Kit's signer at once for a dWallet whose public key is known. The first signature compares the public key
 * with the chain's, before it costs anything. Throws a TssError, VALIDATION, for a malformed key.
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
