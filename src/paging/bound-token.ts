import { createHash } from "node:crypto";

/**
 * This part of the digest distinguishes tokens of different lists. It protects nothing, because a token grants no
 * rights.
 */
const SCOPE_BYTES = 8;

/**
 * Creates a token that carries a text and belongs to a scope, such as a list with its project and filter. Callers treat
 * it as opaque base64url. It is neither secret nor signed, so the text must not contain anything that the caller may
 * not know, and must not extend the caller's rights.
 */
export function sealToken(scope: readonly string[], text: string): string {
  return Buffer.concat([scopeDigest(scope), Buffer.from(text, "utf8")]).toString("base64url");
}

/** Returns the text of a token of this scope, or undefined. */
export function openToken(scope: readonly string[], token: string): string | undefined {
  const bytes = Buffer.from(token, "base64url");
  // The decoder ignores characters outside base64url.
  if (bytes.toString("base64url") !== token) return undefined;
  if (!bytes.subarray(0, SCOPE_BYTES).equals(scopeDigest(scope))) return undefined;
  return bytes.subarray(SCOPE_BYTES).toString("utf8");
}

function scopeDigest(scope: readonly string[]): Buffer {
  // JSON keeps different scopes distinct.
  return createHash("sha256").update(JSON.stringify(scope)).digest().subarray(0, SCOPE_BYTES);
}
