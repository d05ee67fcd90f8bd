import { base58 } from "@scure/base";
import { equalBytes } from "../../protocol/bytes.ts";
import { invalidKey, type PrivateKey, publicKeyOf } from "./private-key.ts";

/**
 * Reads a key pair of Solana: the content of a file of `solana-keygen`, which is a JSON array of 64 numbers, or the 64
 * bytes in Base58, as wallets export them. The second half must be the public key of the first one.
 *
 * @throws {TssError} VALIDATION, with `metadata.field` `keyPair`.
 *
 * @example
 * const key = keyFromSolana({ keyPair: await readFile("id.json", "utf8") });
 * await client.importKey({ seed, ...key });
 * key.privateKey.fill(0);
 */
export function keyFromSolana({ keyPair }: KeyFromSolanaArgs): PrivateKey {
  if (typeof keyPair !== "string" || keyPair.length > MAX_CHARACTERS)
    throw invalidKey("keyPair", `must be text of at most ${MAX_CHARACTERS} characters`);
  const bytes = bytesOf(keyPair.trim());
  try {
    if (bytes?.length !== PAIR_BYTES)
      throw invalidKey("keyPair", "must be a JSON array of 64 bytes, or 64 bytes in Base58");
    const key = { curve: "ED25519", privateKey: bytes.slice(0, 32) } as const;
    if (equalBytes(publicKeyOf("keyPair", key), bytes.subarray(32))) return key;
    key.privateKey.fill(0);
    throw invalidKey("keyPair", "the second half is not the public key of the first one");
  } finally {
    bytes?.fill(0);
  }
}

/** Arguments of {@link keyFromSolana}. */
export interface KeyFromSolanaArgs {
  /** The JSON array or the Base58 text, at most 1,000 characters. */
  readonly keyPair: string;
}

const MAX_CHARACTERS = 1_000;
const PAIR_BYTES = 64;

function bytesOf(text: string): Uint8Array | undefined {
  try {
    if (!text.startsWith("[")) return base58.decode(text);
    const numbers: unknown = JSON.parse(text);
    const isBytes = Array.isArray(numbers) && numbers.every(isByte);
    return isBytes ? Uint8Array.from(numbers) : undefined;
  } catch {
    // The libraries' own errors quote the text.
    return undefined;
  }
}

function isByte(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= 255;
}
