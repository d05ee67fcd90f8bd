/** Whether If-None-Match contains the entity tag, by weak comparison (RFC 9110, 13.1.2). */
export function isNotModified(ifNoneMatch: string | null, etag: string | null): boolean {
  if (ifNoneMatch === null || etag === null) return false;
  if (ifNoneMatch.trim() === "*") return true;
  const tags = ifNoneMatch.match(/(?:W\/)?"[^"]*"/g) ?? [];
  return tags.some((tag) => opaque(tag) === opaque(etag));
}

function opaque(tag: string): string {
  return tag.replace(/^W\//, "");
}
