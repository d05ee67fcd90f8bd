import { toBase58 } from "@mysten/sui/utils";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { createBLAKE2b } from "hash-wasm";

/**
 * Sui's hash of the concatenated parts: BLAKE2b with 32 bytes of output. Runs in WebAssembly, which takes a twentieth of
 * the time of JavaScript for a transaction of 100 kB. For processes of our own: a page may forbid WebAssembly.
 */
export function blake2b256(...parts: readonly Uint8Array[]): Uint8Array {
  blake2b.init();
  for (const part of parts) blake2b.update(part);
  return blake2b.digest("binary");
}

/** One state for all hashes: a hash ends before anything else runs. */
const blake2b = await createBLAKE2b(256);

/** Returns the base58 digest of a transaction, from the BCS of its `TransactionData`. */
export function transactionDigest(bytes: Uint8Array): string {
  return toBase58(blake2b256(DIGEST_PREFIX, bytes));
}

const DIGEST_PREFIX = utf8ToBytes("TransactionData::");

/**
 * Returns the 32 bytes that a key signs for a transaction: the hash of its intent and its BCS. Source: `IntentMessage`
 * in Sui's `shared-crypto/src/intent.rs`.
 */
export function transactionSigningDigest(bytes: Uint8Array): Uint8Array {
  return blake2b256(TRANSACTION_INTENT, bytes);
}

/** Scope TransactionData, version V0, application Sui. */
const TRANSACTION_INTENT = Uint8Array.of(0, 0, 0);
