import { bytesToHex } from "@noble/hashes/utils.js";
import { split } from "shamir-secret-sharing";
import { joinPieces } from "./join-pieces.ts";
import { encodePiece, type PieceFacts } from "./piece-text.ts";

/**
 * Splits the seed of a recovery into pieces, by Shamir's scheme over GF(256). Each byte of the seed has its own random
 * polynomial. Each piece is tried before they are returned. The caller keeps and overwrites the seed.
 */
export async function splitSeed(seed: Uint8Array, facts: SplitFacts): Promise<string[]> {
  const { threshold, count } = facts;
  const shares = await split(seed, count, threshold);
  const splitId = bytesToHex(crypto.getRandomValues(new Uint8Array(8)));
  try {
    const texts = shares.map((share, at) => encodePiece({ ...facts, splitId, index: at + 1, share }));
    for (let from = 0; from < count; from += threshold) {
      const start = Math.min(from, count - threshold);
      const joined = await joinPieces(texts.slice(start, start + threshold));
      joined.seed.fill(0);
    }
    return texts;
  } finally {
    for (const share of shares) share.fill(0);
  }
}

/** What the pieces of a split say in common, except the name of the split. */
type SplitFacts = Omit<PieceFacts, "index" | "splitId">;
