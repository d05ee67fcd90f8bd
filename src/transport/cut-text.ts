/**
 * Returns the text, or its longest prefix that fits, with an ellipsis. It never splits a character and replaces lone
 * surrogates.
 * @param sizeOf the size of a piece of well-formed text, which must be additive. Default: UTF-8 bytes
 */
export function cutText(
  text: string,
  maxBytes: number,
  sizeOf: (text: string) => number = utf8Bytes,
): string {
  // Skips the rest of a longer text.
  const wellFormed = text.slice(0, maxBytes + 1).toWellFormed();
  const isWhole = text.length <= maxBytes;
  if (isWhole && text.length * MAX_BYTES_PER_UNIT <= maxBytes) return wellFormed;
  if (isWhole && sizeOf(wellFormed) <= maxBytes) return wellFormed;
  let leftBytes = maxBytes - sizeOf(ELLIPSIS);
  let end = 0;
  for (const character of wellFormed) {
    leftBytes -= sizeOf(character);
    if (leftBytes < 0) break;
    end += character.length;
  }
  return wellFormed.slice(0, end) + ELLIPSIS;
}

const ELLIPSIS = "…";
/** The most bytes of one UTF-16 unit: three bytes in UTF-8, each three characters in percent-encoding. */
const MAX_BYTES_PER_UNIT = 9;

function utf8Bytes(text: string): number {
  return Buffer.byteLength(text);
}
