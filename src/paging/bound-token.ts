import { createHash } from "node:crypto";

/** So much of the digest keeps tokens of different lists apart. It is no protection: a token is no permission. */
const SCOPE_BYTES = 8;

/**
 * Makes a token that carries a text and belongs to a scope, such as a list, its project and its filter. Callers treat
 * it as opaque: base64url, safe in URLs and headers. It is not secret and not signed, so what it carries must be nothing
 * that a caller may not know, and must not widen what he may read.
 */
export function sealToken(scope: readonly string[], text: string): string {
  return Buffer.concat([scopeDigest(scope), Buffer.from(text, "utf8")]).toString("base64url");
}

/** The text in a token of this scope; undefined for anything else. */
export function openToken(scope: readonly string[], token: string): string | undefined {
  const bytes = Buffer.from(token, "base64url");
  // The decoder passes over what is not base64url.
  if (bytes.toString("base64url") !== token) return undefined;
  if (!bytes.subarray(0, SCOPE_BYTES).equals(scopeDigest(scope))) return undefined;
  return bytes.subarray(SCOPE_BYTES).toString("utf8");
}

function scopeDigest(scope: readonly string[]): Buffer {
  // As JSON, so that no two scopes are written alike.
  return createHash("sha256").update(JSON.stringify(scope)).digest().subarray(0, SCOPE_BYTES);
}
