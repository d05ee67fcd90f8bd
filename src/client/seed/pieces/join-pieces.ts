import { combine } from "shamir-secret-sharing";
import { signerAddressOf } from "../../crypto/user-keys.ts";
import type { Curve } from "../../sdk/names.ts";
import { decodePiece, MAX_PIECES, type Piece, wrongPiece, wrongPieces } from "./piece-text.ts";

/**
 * Puts the seed of a recovery together again, and proves that it is the seed of the address that the pieces name. It
 * calls nothing. Any pieces from the threshold on do, in any order.
 *
 * @param texts the pieces: from the threshold on, at most 16
 * @returns the seed and what it is for. Overwrite the seed after use.
 * @throws {TssError} VALIDATION, with `metadata.problem`: `form`, `version` or `checksum` for a text that is no piece, or a
 *   damaged one, with its place from 1 in `metadata.pieceNumber`; `duplicate` for the same piece twice; `mixed` for pieces
 *   that do not belong together; `count` for too few or too many pieces; and `wrong` if they give another seed. No error
 *   repeats a piece.
 * @example
 * ```ts
 * const { seed, dwalletId, curve } = await joinPieces(texts);
 * await recovery.recoverShare({ seed, dwalletId, curve, acceptUnverifiedShare: true });
 * ```
 */
export async function joinPieces(texts: readonly string[]): Promise<JoinedPieces> {
  if (!Array.isArray(texts)) throw wrongPieces("count", "must be a list of texts");
  if (texts.length > MAX_PIECES)
    throw wrongPieces("count", `must be at most ${MAX_PIECES}, not ${texts.length}`);
  const pieces: Piece[] = [];
  try {
    for (const [at, text] of texts.entries()) pieces.push(decodePiece(text, at + 1));
    return await join(pieces);
  } finally {
    for (const { share } of pieces) share.fill(0);
  }
}

/** The seed of a recovery, and what it is for. */
export interface JoinedPieces {
  /** The root of the recovery's keys, 32 bytes. Protect it like the owner's seed. */
  readonly seed: Uint8Array;
  readonly dwalletId: string;
  readonly curve: Curve;
  /** The Sui address of the recovery's key. The seed has been compared with it. */
  readonly holderAddress: string;
}

async function join(pieces: readonly Piece[]): Promise<JoinedPieces> {
  const [first] = pieces;
  if (first === undefined) throw wrongPieces("count", "must be several texts, not none");
  const { dwalletId, curve, holderAddress, threshold } = first;
  for (const [at, piece] of pieces.entries()) checkWithOthers(piece, at, pieces);
  if (pieces.length < threshold)
    throw wrongPieces("count", `${threshold} are needed, and these are ${pieces.length}`, {
      threshold: String(threshold),
    });
  const seed = await combineShares(pieces.slice(0, threshold));
  if (seed !== undefined && signerAddressOf(seed, curve) === holderAddress)
    return { seed, dwalletId, curve, holderAddress };
  seed?.fill(0);
  throw wrongPieces("wrong", "they give another seed than the recovery's: one of them was changed");
}

/** Compares a piece with those before it. */
function checkWithOthers(piece: Piece, at: number, pieces: readonly Piece[]): void {
  const first = pieces[0] ?? piece;
  if (piece.dwalletId !== first.dwalletId)
    throw wrongPiece("mixed", "is for another dWallet than piece 1", at + 1);
  if (TOGETHER.some((name) => piece[name] !== first[name]))
    throw wrongPiece("mixed", "belongs to another recovery or another split than piece 1", at + 1);
  const same = pieces.slice(0, at).findIndex(({ index }) => index === piece.index);
  if (same !== -1) throw wrongPiece("duplicate", `is the same as piece ${same + 1}`, at + 1);
}

/** What all pieces of a split have in common, besides the dWallet. */
const TOGETHER = ["curve", "holderAddress", "splitId", "threshold", "count"] as const;

/** Returns undefined for shares that no split makes. */
async function combineShares(pieces: readonly Piece[]): Promise<Uint8Array | undefined> {
  try {
    return await combine(pieces.map(({ share }) => share));
  } catch {
    return undefined;
  }
}
