import { HDKey } from "@scure/bip32";
import { mnemonicToSeedSync, validateMnemonic } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { deriveEd25519SecretKey } from "../crypto/user-keys.ts";
import { invalidKey, type PrivateKey, publicKeyOf } from "./private-key.ts";

/**
 * Derives a private key from the words of a wallet (BIP-39, the English list) at a path: with BIP-32 on SECP256K1, with
 * SLIP-0010 on ED25519, where every index is hardened. Wallets differ in their paths, so compare the address.
 *
 * The words lead to all keys of the wallet. The result is one of them, and the others stay where they are.
 *
 * @throws {TssError} VALIDATION, with `metadata.field` `words`, `path`, `curve` or `passphrase`. No error repeats a word.
 *
 * @example
 * const key = keyFromWords({ words, path: "m/44'/60'/0'/0/0", curve: "SECP256K1" }); // Ethereum
 * await client.importKey({ seed, ...key });
 * key.privateKey.fill(0);
 */
export function keyFromWords({ words, path, curve, passphrase = "" }: KeyFromWordsArgs): PrivateKey {
  const derive = Object.hasOwn(DERIVATIONS, curve) ? DERIVATIONS[curve] : undefined;
  if (derive === undefined) throw invalidKey("curve", "must be SECP256K1 or ED25519");
  const indices = readPath(path);
  // BIP-39 hashes the passphrase in UTF-8, which has no half of a surrogate pair.
  if (typeof passphrase !== "string" || passphrase.length > MAX_CHARACTERS || /\p{Cs}/u.test(passphrase))
    throw invalidKey("passphrase", `must be text of at most ${MAX_CHARACTERS} characters`);
  const seed = mnemonicToSeedSync(readWords(words), passphrase);
  try {
    const key = { curve, privateKey: derive(seed, indices) };
    publicKeyOf("words", key);
    return key;
  } finally {
    seed.fill(0);
  }
}

/** Arguments of {@link keyFromWords}. */
export interface KeyFromWordsArgs {
  /** 12, 15, 18, 21 or 24 words, in any case and with any white space. */
  readonly words: string;
  /** Such as `m/44'/60'/0'/0/0`: 1 to 10 indices, each with `'` if it is hardened. */
  readonly path: string;
  readonly curve: "SECP256K1" | "ED25519";
  /** The wallet's passphrase, sometimes called the 25th word. Default: none. */
  readonly passphrase?: string | undefined;
}

const MAX_CHARACTERS = 1_000;
const HARDENED = 0x8000_0000;

function readWords(words: string): string {
  if (typeof words !== "string" || words.length > MAX_CHARACTERS)
    throw invalidKey("words", `must be text of at most ${MAX_CHARACTERS} characters`);
  const normal = words.normalize("NFKD").toLowerCase().split(/\s/).filter(Boolean).join(" ");
  if (!validateMnemonic(normal, wordlist))
    throw invalidKey("words", "must be 12 to 24 English words of BIP-39 with a right checksum");
  return normal;
}

/** Returns the indices of a path, with the hardened bit. */
function readPath(path: string): number[] {
  if (typeof path !== "string" || !/^m(\/\d{1,10}'?){1,10}$/.test(path))
    throw invalidKey("path", "must be m and 1 to 10 indices, such as m/44'/60'/0'/0/0");
  return path
    .split("/")
    .slice(1)
    .map((part) => {
      const index = Number.parseInt(part, 10);
      if (index >= HARDENED) throw invalidKey("path", "has an index of 2147483648 or more");
      return part.endsWith("'") ? index + HARDENED : index;
    });
}

const DERIVATIONS = {
  SECP256K1(seed, indices) {
    let node = HDKey.fromMasterSeed(seed);
    for (const index of indices) {
      const child = node.deriveChild(index);
      node.wipePrivateData();
      node = child;
    }
    const key = node.privateKey?.slice();
    node.wipePrivateData();
    if (key === undefined) throw invalidKey("path", "leads to no private key");
    return key;
  },
  ED25519(seed, indices) {
    if (indices.some((index) => index < HARDENED))
      throw invalidKey("path", "must have hardened indices alone on ED25519, such as m/44'/501'/0'/0'");
    return deriveEd25519SecretKey(
      seed,
      indices.map((index) => index - HARDENED),
    );
  },
} satisfies Record<KeyFromWordsArgs["curve"], (seed: Uint8Array, indices: readonly number[]) => Uint8Array>;
