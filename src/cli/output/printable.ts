/** Replaces terminal control characters and right-to-left marks, because names come from callers. */
export function printable(text: string): string {
  return text.replace(/\p{C}/gu, REPLACEMENT);
}

/**
 * Returns an output of a command without characters that control the terminal: JSON has them escaped, which keeps its
 * value, and in any other text they are replaced.
 */
export function printableOutput(text: string): string {
  const isJson = /^[[{]/.test(text);
  return text.replace(/(?![\n\t])\p{C}/gu, (character) => (isJson ? escapeOf(character) : REPLACEMENT));
}

const REPLACEMENT = "\u{fffd}";

function escapeOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, at) => character.charCodeAt(at));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}
