/** One choice of a header such as `accept`, with its weight from 0 (never) to 1. */
export interface Preference {
  /** In lower case, without parameters. */
  readonly choice: string;
  readonly weight: number;
}

/**
 * Parses an `accept` or `accept-encoding` header (RFC 9110, 12.4.2), in its order. A malformed weight counts as 1.
 * Media type parameters are ignored: no type here has two forms that differ only in them.
 */
export function parsePreferences(header: string): Preference[] {
  return header
    .toLowerCase()
    .split(",")
    .map((part) => part.split(";").map((piece) => piece.trim()))
    .filter(([choice = ""]) => choice !== "")
    .map(([choice = "", ...parameters]) => ({ choice, weight: weightOf(parameters) }));
}

/**
 * @param names the names of one thing, the most specific first
 */
export function weightFor(preferences: readonly Preference[], names: readonly string[]): number | undefined {
  for (const name of names) {
    const found = preferences.find(({ choice }) => choice === name);
    if (found !== undefined) return found.weight;
  }
  return undefined;
}

function weightOf(parameters: readonly string[]): number {
  for (const parameter of parameters) {
    const match = /^q=([01](?:\.\d{0,3})?)$/.exec(parameter);
    if (match !== null) return Math.min(Number(match[1]), 1);
  }
  return 1;
}
