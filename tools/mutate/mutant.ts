/** One line changed for the worse, and the tests that must notice. */
export interface Mutant {
  /** What the service or its client would do, as a sentence. */
  readonly name: string;
  /** The file, from the repository's root. */
  readonly file: string;
  /** The text that decides, which the file has exactly once. */
  readonly find: string;
  /** What stands there instead. */
  readonly replace: string;
  /** Test files, of which at least one must fail. */
  readonly tests: readonly string[];
}

/** The file's text with the mutant's change. Throws where the text to change is not there exactly once. */
export function mutate(text: string, { file, find, replace }: Mutant): string {
  const [before, after, ...others] = text.split(find);
  if (before === undefined || after === undefined || others.length > 0) {
    throw new Error(`${file} has ${others.length + (after === undefined ? 0 : 1)} times: ${find}`);
  }
  return `${before}${replace}${after}`;
}
