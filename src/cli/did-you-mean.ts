/**
 * Returns ` (did you mean …?)` with the known words nearest to a mistyped one, or nothing if none is near. It repeats
 * only known words, because a mistyped one may be a key.
 */
export function didYouMean(typed: string, known: readonly string[]): string {
  const most = Math.max(1, Math.floor(typed.length / 3));
  const distances = known.map((word) => ({
    word,
    distance: distanceOf(typed.toLowerCase(), word.toLowerCase()),
  }));
  const least = Math.min(...distances.map(({ distance }) => distance));
  const nearest = distances
    .filter(({ word, distance }) => (distance === least && distance <= most) || isBeginning(typed, word))
    .map(({ word }) => word)
    .slice(0, SHOWN_MAX_COUNT);
  return nearest.length === 0 ? "" : ` (did you mean ${nearest.join(" or ")}?)`;
}

const SHOWN_MAX_COUNT = 3;
/** Shorter words begin too many others. */
const BEGINNING_LENGTH = 3;

function isBeginning(typed: string, word: string): boolean {
  return typed.length >= BEGINNING_LENGTH && word.toLowerCase().startsWith(typed.toLowerCase());
}

/** Counts the letters to insert, remove, replace or swap with their neighbour (Damerau's distance). */
function distanceOf(one: string, other: string): number {
  // A longer word is near no command, and would cost the square of its length.
  if (one.length > LONGEST_LENGTH) return Number.POSITIVE_INFINITY;
  const rows: number[][] = [Array.from({ length: other.length + 1 }, (_, at) => at)];
  for (let i = 1; i <= one.length; i++) {
    const row = [i];
    for (let j = 1; j <= other.length; j++) {
      const cost = one[i - 1] === other[j - 1] ? 0 : 1;
      const steps = [cell(rows, i - 1, j) + 1, cell([row], 0, j - 1) + 1, cell(rows, i - 1, j - 1) + cost];
      const isSwap = i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      row.push(Math.min(...steps, ...(isSwap ? [cell(rows, i - 2, j - 2) + 1] : [])));
    }
    rows.push(row);
  }
  return cell(rows, one.length, other.length);
}

const LONGEST_LENGTH = 40;

const cell = (rows: readonly (readonly number[])[], row: number, column: number): number =>
  rows[row]?.[column] ?? Number.POSITIVE_INFINITY;
