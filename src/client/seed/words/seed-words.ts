import { entropyToMnemonic, mnemonicToEntropy } from "@scure/bip39";
import { wordlist } from "@scure/bip39/wordlists/english.js";
import { checkSeed } from "../../sdk/checks.ts";
import { TssError } from "../../sdk/errors.ts";

/**
 * Writes a seed as 24 English words, for the user to write down. The words are as secret as the seed.
 *
 * They encode the 32 bytes themselves, as BIP-39 encodes entropy, with a checksum of eight bits. They are not the words
 * of a wallet: a wallet derives another, longer seed from such words, so it shows other addresses for them.
 *
 * @returns the words in lower case, with a space between two words
 * @throws {TssError} VALIDATION for a seed that is not 32 bytes.
 * @example
 * ```ts
 * const words = seedToWords(seed).split(" "); // show them once, and store them nowhere
 * ```
 */
export function seedToWords(seed: Uint8Array): string {
  checkSeed(seed);
  return entropyToMnemonic(seed, wordlist);
}

/**
 * Reads the 24 words of {@link seedToWords}. Upper case, other white space and compatible forms of the letters make no
 * difference.
 *
 * @returns the seed, 32 bytes
 * @throws {TssError} VALIDATION, with `metadata.problem`: `count` unless there are 24 words, `word` if one is not in the
 *   list, with its place from 1 in `metadata.wordNumber`, and `checksum` if each is in the list but together they are
 *   wrong: one was mistaken for another, or two have changed places. No error repeats a word.
 * @example
 * ```ts
 * try {
 *   const seed = seedFromWords(input.value);
 * } catch (error) {
 *   if (error instanceof TssError) highlightWord(Number(error.metadata.wordNumber));
 * }
 * ```
 */
export function seedFromWords(words: string): Uint8Array {
  if (typeof words !== "string") throw bad("count", "must be a text of 24 words");
  const found = words.normalize("NFKD").toLowerCase().split(/\s/).filter(Boolean);
  if (found.length !== WORD_COUNT) throw bad("count", `must be ${WORD_COUNT} words, not ${found.length}`);
  const known = new Set(wordlist);
  const unknownAt = found.findIndex((word) => !known.has(word));
  if (unknownAt !== -1) {
    const wordNumber = String(unknownAt + 1);
    throw bad("word", `word ${wordNumber} is not in the list`, { wordNumber });
  }
  try {
    return mnemonicToEntropy(found.join(" "), wordlist);
  } catch {
    // The library's own errors quote words.
    throw bad(
      "checksum",
      "the checksum is wrong: a word is mistaken for another, or two have changed places",
    );
  }
}

const WORD_COUNT = 24;

function bad(problem: string, message: string, more: Readonly<Record<string, string>> = {}): TssError {
  return new TssError("VALIDATION", `words: ${message}`, {
    metadata: { field: "words", problem, ...more },
  });
}
