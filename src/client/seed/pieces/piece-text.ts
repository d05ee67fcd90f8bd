import { bytesToHex, concatBytes, hexToBytes } from "@noble/hashes/utils.js";
import { bech32m } from "@scure/base";
import { curveNumber, curveOfNumber } from "../../../protocol/algorithms.ts";
import { TssError } from "../../sdk/errors.ts";
import type { Curve } from "../../sdk/names.ts";

/** The most pieces of one recovery. */
export const MAX_PIECES = 16;
/** The fewest pieces that a recovery may need. One piece would be the seed itself. */
export const MIN_THRESHOLD = 2;

/** What a piece says about itself. It is public, unlike the text of the piece. */
export interface PieceFacts {
  readonly dwalletId: string;
  readonly curve: Curve;
  /** The Sui address of the recovery's key. The dWallet's owner sees it in `listHolders`. */
  readonly holderAddress: string;
  /** How many pieces give the seed, from 2 to `count`. */
  readonly threshold: number;
  /** How many pieces there are, at most 16. */
  readonly count: number;
  /** The number of this piece, from 1 to `count`. */
  readonly index: number;
  /** The split that made the piece, in 16 hex digits. Pieces of two splits do not fit together. */
  readonly splitId: string;
}

/**
 * Reads what a piece says about itself, so that its keeper can tell what it is for.
 *
 * @param text the piece; upper case, white space and hyphens make no difference
 * @returns the facts, without the secret
 * @throws {TssError} VALIDATION, as `joinPieces` does. No error repeats the text.
 * @example
 * ```ts
 * const { dwalletId, index, count, threshold } = readPiece(text);
 * console.log(`piece ${index} of ${count} for ${dwalletId}; ${threshold} are needed`);
 * ```
 */
export function readPiece(text: string): PieceFacts {
  const { share, ...facts } = decodePiece(text);
  share.fill(0);
  return facts;
}

/** A piece with its secret: the values of the polynomials in 32 bytes, then their place in one byte. */
export interface Piece extends PieceFacts {
  readonly share: Uint8Array;
}

/** Writes a piece as text of 191 characters. */
export function encodePiece(piece: Piece): string {
  const { curve, threshold, count, index, splitId, dwalletId, holderAddress, share } = piece;
  const bytes = concatBytes(
    Uint8Array.of(VERSION, curveNumber(curve), threshold, count, index),
    hexToBytes(splitId),
    hexToBytes(dwalletId.slice(2)),
    hexToBytes(holderAddress.slice(2)),
    share,
  );
  try {
    return bech32m.encode(PREFIX, bech32m.toWords(bytes), false);
  } finally {
    bytes.fill(0);
  }
}

/**
 * Reads a piece with its secret, which the caller overwrites. `pieceNumber` is its place among several, from 1. Throws
 * VALIDATION, with `metadata.problem`: `form`, `checksum` or `version`.
 */
export function decodePiece(text: string, pieceNumber?: number): Piece {
  const bytes = readBytes(text, pieceNumber);
  try {
    const [version, curveByte, threshold, count, index] = bytes;
    if (version !== VERSION)
      throw wrongPiece("version", "is of a version that this client does not know", pieceNumber);
    const curve = curveOfNumber(curveByte ?? -1);
    const isWhole =
      bytes.length === LENGTH &&
      curve !== undefined &&
      arePieceNumbers(threshold, count) &&
      isWithin(index, 1, count ?? 0) &&
      bytes[LENGTH - 1] !== 0;
    if (!isWhole) throw wrongPiece("form", "is not a piece that this client made", pieceNumber);
    return {
      curve,
      threshold: threshold ?? 0,
      count: count ?? 0,
      index: index ?? 0,
      splitId: bytesToHex(bytes.subarray(5, 13)),
      dwalletId: `0x${bytesToHex(bytes.subarray(13, 45))}`,
      holderAddress: `0x${bytesToHex(bytes.subarray(45, 77))}`,
      share: bytes.slice(77),
    };
  } finally {
    bytes.fill(0);
  }
}

/** Returns whether so many pieces of so many can give a seed. */
export function arePieceNumbers(threshold: number | undefined, count: number | undefined): boolean {
  return isWithin(count, MIN_THRESHOLD, MAX_PIECES) && isWithin(threshold, MIN_THRESHOLD, count ?? 0);
}

function isWithin(value: number | undefined, least: number, most: number): boolean {
  return value !== undefined && Number.isInteger(value) && value >= least && value <= most;
}

function readBytes(text: string, pieceNumber: number | undefined): Uint8Array {
  const isShort = typeof text === "string" && text.length <= MAX_CHARACTERS;
  const typed = isShort ? text.replace(/[\s-]/g, "").toLowerCase() : "";
  if (!typed.startsWith(`${PREFIX}1`))
    throw wrongPiece("form", `must be a text that begins with ${PREFIX}1`, pieceNumber);
  try {
    return bech32m.fromWords(bech32m.decode(typed, false).words);
  } catch {
    // The library's own errors quote the text.
    throw wrongPiece(
      "checksum",
      "is damaged: a character is wrong, missing or in another place",
      pieceNumber,
    );
  }
}

/** Creates the error for a piece. It names the piece by its place in the caller's list, from 1. */
export function wrongPiece(problem: string, message: string, pieceNumber?: number): TssError {
  const which = pieceNumber === undefined ? "the piece" : `piece ${pieceNumber}`;
  return wrongPieces(problem, `${which} ${message}`, {
    ...(pieceNumber !== undefined && { pieceNumber: String(pieceNumber) }),
  });
}

/** Creates the error for several pieces. */
export function wrongPieces(
  problem: string,
  message: string,
  more: Readonly<Record<string, string>> = {},
): TssError {
  return new TssError("VALIDATION", `pieces: ${message}`, {
    metadata: { field: "pieces", problem, ...more },
  });
}

const PREFIX = "tsspiece";
const VERSION = 1;
/** Five numbers, the split, the dWallet, the holder and the secret. */
const LENGTH = 110;
/** A typed piece, with room for hyphens and line breaks. */
const MAX_CHARACTERS = 1_000;
