import { combine } from "shamir-secret-sharing";
import { signerAddressOf } from "../../crypto/user-keys.ts";
import { checkObjectId } from "../../sdk/checks.ts";
import type { TssError } from "../../sdk/errors.ts";
import type { Curve } from "../../sdk/names.ts";
import { MAX_PIECES, wrongPiece, wrongPieces } from "./piece-text.ts";
import { type ExpectedRecovery, type PlacedPiece, readPieces, selectSet } from "./select-set.ts";

/**
 * Puts the seed of a recovery together again, and proves that it is the seed of the address that the pieces name. It
 * calls nothing. Any pieces from the threshold on do, in any order. With more pieces than the threshold, a damaged or
 * foreign one is not used: the result names it in `rejected`, as long as the others suffice.
 *
 * Whoever gives all pieces decides which recovery they are of, unless you say which one you expect.
 *
 * @param texts the pieces: from the threshold on, at most 16
 * @param expected the dWallet, the recovery's address, or both. Pieces of another one are not used. Default: any
 * @returns the seed, what it is for, and the pieces that are not of the set. Overwrite the seed after use.
 * @throws {TssError} VALIDATION if the good pieces do not suffice, with `metadata.problem`: `form`, `version` or `checksum`
 *   for a text that is no piece, or a damaged one, with its place from 1 in `metadata.pieceNumber`; `duplicate` for the
 *   same piece twice; `unexpected` for a piece of another recovery than `expected`; `mixed` for pieces that do not belong together, and for enough pieces of two recoveries; `count` for
 *   too few or too many pieces; and `wrong` if they give another seed. No error repeats a piece.
 * @example
 * ```ts
 * const { seed, curve } = await joinPieces(texts, { dwalletId });
 * await recovery.recoverShare({ seed, dwalletId, curve, acceptUnverifiedShare: true });
 * ```
 */
export async function joinPieces(
  texts: readonly string[],
  expected: ExpectedRecovery = {},
): Promise<JoinedPieces> {
  if (!Array.isArray(texts)) throw wrongPieces("count", "must be a list of texts");
  if (texts.length > MAX_PIECES)
    throw wrongPieces("count", `must be at most ${MAX_PIECES}, not ${texts.length}`);
  for (const field of ["dwalletId", "holderAddress"] as const) {
    const value = expected[field];
    if (value !== undefined) checkObjectId(`expected.${field}`, value);
  }
  const read = readPieces(texts, expected);
  try {
    const { set, rejected } = selectSet(read);
    const { seed, changed } = await joinSet(set);
    const [{ dwalletId, curve, holderAddress }] = set as [PlacedPiece];
    return { seed, dwalletId, curve, holderAddress, rejected: describe([...rejected, ...changed]) };
  } finally {
    for (const { share } of read.pieces) share.fill(0);
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
  /** The texts that are not of the set and were not used, by their places. Their keepers should get new pieces. */
  readonly rejected: readonly RejectedPiece[];
}

/** A text that `joinPieces` did not use. */
export interface RejectedPiece {
  /** Its place in the caller's list, from 1. */
  readonly pieceNumber: number;
  /** Why: `form`, `version`, `checksum`, `duplicate`, `unexpected`, `mixed`, or `wrong` for a piece that was changed. */
  readonly problem: string;
  /** The same in words. It does not repeat the piece. */
  readonly message: string;
}

function describe(rejected: readonly TssError[]): RejectedPiece[] {
  return rejected
    .map(({ message, metadata }) => {
      const { pieceNumber, problem = "" } = metadata;
      return { pieceNumber: Number(pieceNumber), problem, message };
    })
    .sort((a, b) => a.pieceNumber - b.pieceNumber);
}

/** Finds the pieces of a split that give the seed of its address. Throws VALIDATION if none do. */
async function joinSet(set: readonly PlacedPiece[]): Promise<JoinedSet> {
  const [{ curve, holderAddress, threshold }] = set as [PlacedPiece];
  for (const used of selectionsOf(set, threshold)) {
    const seed = await combineShares(used);
    if (seed !== undefined && signerAddressOf(seed, curve) === holderAddress)
      return { seed, changed: await findChanged(set, used, seed) };
    seed?.fill(0);
  }
  throw wrongPieces("wrong", set.length === threshold ? ONE_CHANGED : SEVERAL_CHANGED);
}

interface JoinedSet {
  readonly seed: Uint8Array;
  /** An error for each piece that is not of the set, though it says so. */
  readonly changed: readonly TssError[];
}

/** Returns the pieces that do not give the seed together with the others. */
async function findChanged(
  set: readonly PlacedPiece[],
  used: readonly PlacedPiece[],
  seed: Uint8Array,
): Promise<TssError[]> {
  const changed: TssError[] = [];
  for (const piece of set.filter((each) => !used.includes(each))) {
    const again = await combineShares([piece, ...used.slice(1)]);
    const isOfSet = again?.every((byte, at) => byte === seed[at]) === true;
    again?.fill(0);
    if (!isOfSet) changed.push(wrongPiece("wrong", "does not fit the others: it was changed", piece.place));
  }
  return changed;
}

/**
 * Yields every selection of so many pieces, at most 12,870 of them, about 3 ms each. Their order is scattered: after a
 * selection with a wrong piece, the next one has mostly other pieces, so a few attempts suffice for a few wrong pieces.
 */
function* selectionsOf(pieces: readonly PlacedPiece[], size: number): Generator<readonly PlacedPiece[]> {
  const all = selections(pieces, size);
  for (let count = 0; count < all.length; count++) yield all[(count * STRIDE) % all.length] ?? [];
}

function selections<T>(items: readonly T[], size: number): T[][] {
  if (size === 0) return [[]];
  return items.flatMap((item, at) =>
    selections(items.slice(at + 1), size - 1).map((rest) => [item, ...rest]),
  );
}

/** A prime, so that the steps reach every selection. It is 0.62 of the most selections, which scatters them. */
const STRIDE = 7_919;

/** Returns undefined for shares that no split makes. */
async function combineShares(pieces: readonly PlacedPiece[]): Promise<Uint8Array | undefined> {
  try {
    return await combine(pieces.map(({ share }) => share));
  } catch {
    return undefined;
  }
}

const ONE_CHANGED = "they give another seed than the recovery's: one of them was changed";
const SEVERAL_CHANGED = "no selection of them gives the recovery's seed: too many of them were changed";
