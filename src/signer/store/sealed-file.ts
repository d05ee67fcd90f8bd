import { randomBytes } from "node:crypto";
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { concatBytes } from "@noble/hashes/utils.js";

/**
 * The layout of sealed content: a head, which says how to get the key, a nonce, and the content under that key. The seal
 * authenticates the head.
 *
 * | bytes | with a passphrase | with a wrapped key |
 * |---|---|---|
 * | 8 | `TSSKEYS1` | `TSSKEYS2` |
 * | then | the logarithm of scrypt's N (1), its salt (32) | the length (2, big-endian), and that many bytes of JSON |
 * | 24 | the nonce, another one for each write | the same |
 * | rest | the content, sealed with XChaCha20-Poly1305 | the same |
 */
const PASSPHRASE_MAGIC = new TextEncoder().encode("TSSKEYS1");
const WRAPPED_MAGIC = new TextEncoder().encode("TSSKEYS2");
const MAGIC_BYTES = 8;
const SALT_BYTES = 32;
const NONCE_BYTES = 24;
const TAG_BYTES = 16;
const LENGTH_BYTES = 2;
/** A wrapped key and its names have a few hundred bytes. */
const MAX_JSON_BYTES = 16_384;
/** The length of a key that seals, in bytes. */
export const SEAL_KEY_BYTES = 32;

/** Makes the key of a new store, and gets that of an existing one. */
export interface KeySeal {
  newKey(): Promise<SealKey>;
  /** Throws a SealedFileError if the head is of another kind, and an Error if the key cannot be got. */
  openKey(head: SealHead): Promise<SealKey>;
}

/** A key that seals, and the head with which it is got again. */
export interface SealKey {
  readonly head: SealHead;
  readonly key: Uint8Array;
}

/** How the key of sealed content is got. */
export type SealHead =
  | { readonly kind: "passphrase"; readonly logN: number; readonly salt: Uint8Array }
  | {
      readonly kind: "wrapped";
      /** The service that wrapped the key, such as `aws-kms`. */
      readonly by: string;
      /** The name of the key with which it wrapped. A hint for people: the settings decide. */
      readonly keyName: string;
      /** What the wrapping service binds the key to: another one for each store. */
      readonly context: string;
      readonly wrappedKey: Uint8Array;
    };

/** Thrown if sealed content cannot be opened. The message quotes nothing of it. */
export class SealedFileError extends Error {
  override readonly name = "SealedFileError";
}

/**
 * Seals the content with a new random nonce.
 *
 * @param place what else the content is bound to, such as the name of an entry
 */
export function sealContent({ head, key }: SealKey, content: Uint8Array, place = ""): Uint8Array {
  const nonce = new Uint8Array(randomBytes(NONCE_BYTES));
  const begin = concatBytes(encodeHead(head), nonce);
  return concatBytes(begin, xchacha20poly1305(key, nonce, bound(begin, place)).encrypt(content));
}

/**
 * Opens sealed content and returns it with its key. Throws a SealedFileError for content of another kind, another key,
 * and content of which one bit was changed.
 */
export async function openContent(
  sealed: Uint8Array,
  seal: KeySeal,
  place = "",
): Promise<{ readonly sealKey: SealKey; readonly content: Uint8Array }> {
  const sealKey = await seal.openKey(readHead(sealed).head);
  return { sealKey, content: openWith(sealKey, sealed, place) };
}

/** Opens sealed content with a key that is known, and otherwise does as {@link openContent}. */
export function openWith({ head, key }: SealKey, sealed: Uint8Array, place = ""): Uint8Array {
  const beginBytes = beginLength(sealed);
  const begin = sealed.slice(0, beginBytes);
  const nonce = begin.slice(beginBytes - NONCE_BYTES);
  try {
    return xchacha20poly1305(key, nonce, bound(begin, place)).decrypt(sealed.subarray(beginBytes));
  } catch {
    const what = head.kind === "passphrase" ? "the passphrase is wrong" : "another key sealed the file";
    throw new SealedFileError(`${what}, or the file was changed`);
  }
}

/** Returns the length of what precedes the sealed content. These bytes differ after each write. */
export function beginLength(sealed: Uint8Array): number {
  return readHead(sealed).headBytes + NONCE_BYTES;
}

/** Reads the head of sealed content, which nothing has authenticated yet. Throws a SealedFileError. */
export function readHead(sealed: Uint8Array): { readonly head: SealHead; readonly headBytes: number } {
  const read = beginsWith(sealed, PASSPHRASE_MAGIC)
    ? readPassphraseHead(sealed)
    : beginsWith(sealed, WRAPPED_MAGIC)
      ? readWrappedHead(sealed)
      : undefined;
  if (read === undefined || sealed.length < read.headBytes + NONCE_BYTES + TAG_BYTES)
    throw new SealedFileError("the file is not a signer's key file, or was cut");
  return read;
}

function readPassphraseHead(sealed: Uint8Array) {
  const saltAt = MAGIC_BYTES + 1;
  const head = {
    kind: "passphrase" as const,
    logN: sealed[MAGIC_BYTES] ?? 0,
    salt: sealed.slice(saltAt, saltAt + SALT_BYTES),
  };
  return { head, headBytes: saltAt + SALT_BYTES };
}

function readWrappedHead(sealed: Uint8Array) {
  const jsonAt = MAGIC_BYTES + LENGTH_BYTES;
  const length = (sealed[MAGIC_BYTES] ?? 0) * 256 + (sealed[MAGIC_BYTES + 1] ?? 0);
  const text = new TextDecoder().decode(sealed.subarray(jsonAt, jsonAt + length));
  let written: Partial<WrittenHead>;
  try {
    written = (JSON.parse(text) ?? {}) as Partial<WrittenHead>;
  } catch {
    return undefined;
  }
  const texts = [written.by, written.keyName, written.context, written.wrappedKey];
  if (length > MAX_JSON_BYTES || texts.some((each) => typeof each !== "string")) return undefined;
  const { by, keyName, context, wrappedKey } = written as WrittenHead;
  const head = {
    kind: "wrapped" as const,
    by,
    keyName,
    context,
    wrappedKey: new Uint8Array(Buffer.from(wrappedKey, "base64")),
  };
  return { head, headBytes: jsonAt + length };
}

interface WrittenHead {
  readonly by: string;
  readonly keyName: string;
  readonly context: string;
  /** In base64. */
  readonly wrappedKey: string;
}

function encodeHead(head: SealHead): Uint8Array {
  if (head.kind === "passphrase") return concatBytes(PASSPHRASE_MAGIC, Uint8Array.of(head.logN), head.salt);
  const { by, keyName, context } = head;
  const wrappedKey = Buffer.from(head.wrappedKey).toString("base64");
  const json = new TextEncoder().encode(
    JSON.stringify({ by, keyName, context, wrappedKey } satisfies WrittenHead),
  );
  if (json.length > MAX_JSON_BYTES)
    throw new Error(`the wrapped key and its names have more than ${MAX_JSON_BYTES} bytes`);
  return concatBytes(WRAPPED_MAGIC, Uint8Array.of(json.length >> 8, json.length & 255), json);
}

function beginsWith(bytes: Uint8Array, magic: Uint8Array): boolean {
  return magic.every((byte, index) => bytes[index] === byte);
}

/** What the seal authenticates beside the content. */
function bound(begin: Uint8Array, place: string): Uint8Array {
  return place === "" ? begin : concatBytes(begin, new TextEncoder().encode(place));
}
