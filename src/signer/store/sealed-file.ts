import { randomBytes, scrypt } from "node:crypto";
import { xchacha20poly1305 } from "@noble/ciphers/chacha.js";
import { concatBytes } from "@noble/hashes/utils.js";

/**
 * The layout of the encrypted file: a head, which the seal authenticates, and the sealed content.
 *
 * | bytes | content |
 * |---|---|
 * | 8 | `TSSKEYS1` |
 * | 1 | the logarithm of scrypt's N |
 * | 32 | scrypt's salt |
 * | 24 | the nonce, another one for each write |
 * | rest | the content, sealed with XChaCha20-Poly1305 |
 */
const MAGIC = new TextEncoder().encode("TSSKEYS1");
const SALT_BYTES = 32;
const NONCE_BYTES = 24;
const SALT_START = MAGIC.length + 1;
const NONCE_START = SALT_START + SALT_BYTES;
/** The length of the head, in bytes. */
export const HEAD_BYTES = NONCE_START + NONCE_BYTES;
const TAG_BYTES = 16;

/** scrypt's N = 2^17 with r = 8 and p = 1 takes about half a second and 128 MiB for each guess of the passphrase. */
const DEFAULT_LOG_N = 17;
/** A changed head must not make the signer allocate more than 1 GiB. */
const MAX_LOG_N = 20;
const BLOCK_SIZE = 8;

/** The key of a file, and how it follows from the passphrase. */
export interface FileKey {
  readonly logN: number;
  readonly salt: Uint8Array;
  readonly key: Uint8Array;
}

/** Thrown if a file cannot be opened. The message quotes nothing of its content. */
export class SealedFileError extends Error {
  override readonly name = "SealedFileError";
}

/** Derives a key for a new file, with a random salt. */
export function newFileKey(passphrase: string, logN = DEFAULT_LOG_N): Promise<FileKey> {
  return deriveFileKey(passphrase, logN, new Uint8Array(randomBytes(SALT_BYTES)));
}

/** Seals the content with a new random nonce. */
export function sealContent({ logN, salt, key }: FileKey, content: Uint8Array): Uint8Array {
  const nonce = new Uint8Array(randomBytes(NONCE_BYTES));
  const head = concatBytes(MAGIC, Uint8Array.of(logN), salt, nonce);
  return concatBytes(head, xchacha20poly1305(key, nonce, head).encrypt(content));
}

/**
 * Opens a file and returns its content and its key. Throws a SealedFileError for a file of another kind, a wrong
 * passphrase, and a file of which one bit was changed.
 */
export async function openContent(
  file: Uint8Array,
  passphrase: string,
): Promise<{ readonly fileKey: FileKey; readonly content: Uint8Array }> {
  const isOurs = MAGIC.every((byte, index) => file[index] === byte);
  if (!isOurs || file.length < HEAD_BYTES + TAG_BYTES)
    throw new SealedFileError("the file is not a signer's key file, or was cut");
  const logN = file[MAGIC.length]!;
  if (logN < 1 || logN > MAX_LOG_N) throw new SealedFileError("the file names an unknown cost of scrypt");
  const fileKey = await deriveFileKey(passphrase, logN, file.slice(SALT_START, NONCE_START));
  const head = file.slice(0, HEAD_BYTES);
  const cipher = xchacha20poly1305(fileKey.key, file.slice(NONCE_START, HEAD_BYTES), head);
  try {
    return { fileKey, content: cipher.decrypt(file.subarray(HEAD_BYTES)) };
  } catch {
    throw new SealedFileError("the passphrase is wrong, or the file was changed");
  }
}

function deriveFileKey(passphrase: string, logN: number, salt: Uint8Array): Promise<FileKey> {
  const N = 2 ** logN;
  const options = { N, r: BLOCK_SIZE, p: 1, maxmem: 2 * 128 * N * BLOCK_SIZE };
  return new Promise((resolve, reject) => {
    scrypt(passphrase.normalize("NFC"), salt, 32, options, (error, key) => {
      if (error === null) resolve({ logN, salt, key: new Uint8Array(key) });
      else reject(error);
    });
  });
}
