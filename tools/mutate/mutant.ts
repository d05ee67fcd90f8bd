/** One line changed for the worse, and the tests that must detect it. */
export interface Mutant {
  /** The resulting behaviour of the service or its client, as a sentence. */
  readonly name: string;
  /** The file's path from the repository's root. */
  readonly file: string;
  /** The deciding text, which occurs exactly once in the file. */
  readonly find: string;
  /** The replacement. */
  readonly replace: string;
  /** Test files, of which at least one must fail. */
  readonly tests: readonly string[];
}

/** Returns the file's text with the mutant's change. Throws unless the text to change occurs exactly once. */
export function mutate(text: string, { file, find, replace }: Mutant): string {
  const [before, after, ...others] = text.split(find);
  if (before === undefined || after === undefined || others.length > 0) {
    throw new Error(`${file} has ${others.length + (after === undefined ? 0 : 1)} times: ${find}`);
  }
  return `${before}${replace}${after}`;
}
