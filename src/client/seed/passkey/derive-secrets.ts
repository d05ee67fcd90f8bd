import { hkdf } from "@noble/hashes/hkdf.js";
import { sha256 } from "@noble/hashes/sha2.js";

/**
 * The input of each passkey's pseudo-random function (`prf.eval.first`). All passkeys get the same input: each has its
 * own key. The browser hashes the input with a prefix of WebAuthn before the passkey sees it.
 */
export const PRF_INPUT = new TextEncoder().encode("threshold-signing-service/passkey/v1");

/** The length of a passkey's value, of a seed and of a wrapping key. */
export const SECRET_BYTES = 32;

/** Derives the seed from a passkey's value (version 1 of `docs/seed.md`). The caller overwrites both. */
export function deriveSeed(value: Uint8Array): Uint8Array {
  return hkdf(sha256, value, SEED_LABEL, undefined, SECRET_BYTES);
}

/** Derives from a passkey's value the AES-256 key that wraps another passkey's seed. The caller overwrites both. */
export function deriveWrappingKey(value: Uint8Array): Uint8Array<ArrayBuffer> {
  return hkdf(sha256, value, WRAPPING_LABEL, undefined, SECRET_BYTES);
}

/** The versions of the derivations. A new derivation must use a new label and exist beside the old one. */
const SEED_LABEL = new TextEncoder().encode("threshold-signing-service/passkey-seed/v1");
const WRAPPING_LABEL = new TextEncoder().encode("threshold-signing-service/passkey-wrap/v1");
