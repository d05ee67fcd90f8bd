/**
 * Returns the type of a `content-type` in lower case, without its parameters. Returns undefined for a charset other than
 * UTF-8; other parameters have no meaning for the types that this transport reads, and are ignored (RFC 9110, 8.3.1).
 */
export function mediaTypeOf(contentType: string): string | undefined {
  const end = contentType.indexOf(";");
  if (end < 0) return contentType.trim().toLowerCase();
  const charset = CHARSET.exec(contentType)?.[1];
  if (charset !== undefined && !UTF8.test(charset)) return undefined;
  return contentType.slice(0, end).trim().toLowerCase();
}

const CHARSET = /;[ \t]*charset="?([^";, \t]*)/i;
const UTF8 = /^utf-?8$/i;
