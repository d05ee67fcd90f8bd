import {
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  getTransactionEncoder,
  type Transaction,
  type TransactionWithinSizeLimit,
  type TransactionWithLifetime,
} from "@solana/kit";
import { dwalletSolanaSigner } from "../../client/signers/solana/index.ts";
import { equalBytes } from "../../protocol/bytes.ts";
import { wrongField } from "../signer-error.ts";
import { asField } from "./as-field.ts";
import type { Payload } from "./payload.ts";

/** Reads a serialized transaction. Throws VALIDATION for octets that are not exactly one transaction. */
export function readSolanaTransaction(octets: Uint8Array): Payload {
  const transaction = parse(octets);
  return {
    async sign(signer) {
      const account = dwalletSolanaSigner(signer, signer.key);
      const [made] = await asField("solana_transaction", () => account.signTransactions([transaction]));
      const signature = made![account.address]!;
      const signatures = { ...transaction.signatures, [account.address]: signature };
      const signed = getTransactionEncoder().encode({ ...transaction, signatures });
      return { signature: Uint8Array.from(signature), signedSolanaTransaction: Uint8Array.from(signed) };
    },
  };
}

type Signable = Transaction & TransactionWithinSizeLimit & TransactionWithLifetime;

function parse(octets: Uint8Array): Signable {
  let transaction: Transaction;
  let isSame: boolean;
  try {
    transaction = getTransactionDecoder().decode(octets);
    // The first decoder takes whatever is behind the message as a part of it.
    const message = getCompiledTransactionMessageDecoder().decode(transaction.messageBytes);
    const messageBytes = getCompiledTransactionMessageEncoder().encode(message);
    const again = getTransactionEncoder().encode({ ...transaction, messageBytes } as Transaction);
    isSame = equalBytes(Uint8Array.from(again), octets);
  } catch {
    throw wrongField("solana_transaction", "is not a serialized transaction of Solana");
  }
  if (!isSame) throw wrongField("solana_transaction", "is not the canonical serialization of a transaction");
  // The signer uses the message's octets alone.
  return transaction as Signable;
}
