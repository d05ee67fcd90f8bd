import type { TssError } from "../../sdk/errors.ts";
import { decodePiece, type Piece, wrongPiece, wrongPieces } from "./piece-text.ts";

/** What the caller knows of the recovery. Pieces of others are not used. */
export interface ExpectedRecovery {
  /** The id of the dWallet. */
  readonly dwalletId?: string | undefined;
  /** The Sui address of the recovery's key, as `addRecovery` and `listHolders` return it. */
  readonly holderAddress?: string | undefined;
}

/**
 * Reads texts in the caller's order. A text that is no piece, a repeated one, or one of another recovery than the caller
 * expects becomes a rejection.
 */
export function readPieces(texts: readonly string[], expected: ExpectedRecovery): ReadPieces {
  const pieces: PlacedPiece[] = [];
  const rejections: TssError[] = [];
  for (const [at, text] of texts.entries()) {
    const place = at + 1;
    try {
      const piece = { ...decodePiece(text, place), place };
      const same = pieces.find((other) => isSame(piece, other));
      const unexpected = whyUnexpected(piece, expected);
      if (unexpected === undefined && same === undefined) {
        pieces.push(piece);
        continue;
      }
      piece.share.fill(0);
      rejections.push(
        unexpected === undefined
          ? wrongPiece("duplicate", `is the same as piece ${same?.place}`, place)
          : wrongPiece("unexpected", unexpected, place),
      );
    } catch (error) {
      rejections.push(error as TssError);
    }
  }
  return { pieces, rejections };
}

function whyUnexpected(piece: Piece, { dwalletId, holderAddress }: ExpectedRecovery): string | undefined {
  if (dwalletId !== undefined && piece.dwalletId !== dwalletId)
    return `is for the dWallet ${piece.dwalletId}, which is not the expected one`;
  if (holderAddress !== undefined && piece.holderAddress !== holderAddress)
    return `is of the recovery of ${piece.holderAddress}, which is not the expected one`;
  return undefined;
}

/** A piece and its place in the caller's list, from 1. */
export interface PlacedPiece extends Piece {
  readonly place: number;
}

/** The pieces, each once, and an error for each other text. */
interface ReadPieces {
  readonly pieces: readonly PlacedPiece[];
  readonly rejections: readonly TssError[];
}

/**
 * Returns those pieces that belong to one split and are enough for its threshold, and a rejection for each other one.
 * If none are enough, the pieces of the split with most of them tell what the others are not. Throws VALIDATION if none
 * are enough, or if the pieces of two splits are: then only the caller can tell which one it wants.
 */
export function selectSet({ pieces, rejections }: ReadPieces): SelectedSet {
  const sets = [...groupBySplit(pieces).values()];
  const [enough, other] = sets.filter(isEnough);
  if (enough !== undefined && other !== undefined)
    throw wrongPiece("mixed", `${foreignTo(enough, other)}, and both have enough pieces`, other[0]?.place);
  const set = enough ?? sets.reduce(larger, []);
  const foreign = sets
    .filter((each) => each !== set)
    .flatMap((each) => each.map((piece) => wrongPiece("mixed", foreignTo(set, [piece]), piece.place)));
  const rejected = [...rejections, ...foreign];
  if (enough !== undefined) return { set, rejected };
  for (const error of rejected) throw error;
  const threshold = set[0]?.threshold;
  if (threshold === undefined) throw wrongPieces("count", "must be several texts, not none");
  throw wrongPieces("count", `${threshold} are needed, and these are ${set.length}`, {
    threshold: String(threshold),
  });
}

/** The pieces of one split, and an error for each other text. */
interface SelectedSet {
  readonly set: readonly PlacedPiece[];
  readonly rejected: readonly TssError[];
}

function isSame(a: Piece, b: Piece): boolean {
  return (
    splitOf(a) === splitOf(b) && a.index === b.index && a.share.every((byte, at) => byte === b.share[at])
  );
}

function groupBySplit(pieces: readonly PlacedPiece[]): Map<string, PlacedPiece[]> {
  const groups = new Map<string, PlacedPiece[]>();
  for (const piece of pieces) groups.set(splitOf(piece), [...(groups.get(splitOf(piece)) ?? []), piece]);
  return groups;
}

/** What all pieces of a split have in common. */
function splitOf({ dwalletId, curve, holderAddress, splitId, threshold, count }: Piece): string {
  return [dwalletId, curve, holderAddress, splitId, threshold, count].join();
}

function isEnough(pieces: readonly PlacedPiece[]): boolean {
  return pieces.length >= (pieces[0]?.threshold ?? Number.POSITIVE_INFINITY);
}

function larger(a: readonly PlacedPiece[], b: readonly PlacedPiece[]): readonly PlacedPiece[] {
  return b.length > a.length ? b : a;
}

/** Says what a piece is not, compared with the first piece of the set. */
function foreignTo([own]: readonly PlacedPiece[], [foreign]: readonly PlacedPiece[]): string {
  if (own?.dwalletId !== foreign?.dwalletId) return `is for another dWallet than piece ${own?.place}`;
  return `belongs to another recovery or another split than piece ${own?.place}`;
}
