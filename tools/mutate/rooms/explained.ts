import type { RoomMutant } from "./make-mutants.ts";

/** A mutant that no test can kill, or that decides nothing. */
export interface Explained {
  readonly file: string;
  /** Text of the source that occurs once in the file and contains the mutated place's line. */
  readonly at: string;
  /** What the mutant puts there; every mutant of the place if it is left out. */
  readonly replacement?: string;
  readonly because: string;
}

/** The mutants that no test can kill, by file. */
export const EXPLAINED: readonly Explained[] = [];

/** Returns whether an entry is about a mutant of a source. */
export function explains(
  entry: Explained,
  mutant: Pick<RoomMutant, "file" | "line" | "replacement">,
  source: string,
): boolean {
  if (entry.file !== mutant.file) return false;
  if (entry.replacement !== undefined && entry.replacement !== mutant.replacement) return false;
  const start = source.indexOf(entry.at);
  const first = source.slice(0, start).split("\n").length;
  return start >= 0 && mutant.line >= first && mutant.line < first + entry.at.split("\n").length;
}
