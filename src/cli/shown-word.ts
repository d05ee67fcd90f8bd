/** Returns a word of the command line in quotes, or only its length if it may be a key. */
export function shownWord(word: string): string {
  return /^[a-z][a-z-]{0,19}$/.test(word) ? `"${word}"` : `of ${word.length} characters`;
}
