/** A word of the command line in quotes, or its length where it is no short plain word: it may be a key. */
export function shownWord(word: string): string {
  return /^[a-z][a-z-]{0,19}$/.test(word) ? `"${word}"` : `of ${word.length} characters`;
}
