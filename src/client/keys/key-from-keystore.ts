import { ctr } from "@noble/ciphers/aes.js";
import { pbkdf2Async } from "@noble/hashes/pbkdf2.js";
import { scryptAsync } from "@noble/hashes/scrypt.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { equalBytes, hexToBytes } from "../../protocol/bytes.ts";
import { ethereumAddress } from "../../protocol/signatures/addresses.ts";
import { invalidKey, type PrivateKey, publicKeyOf } from "./private-key.ts";

/**
 * Opens an Ethereum keystore file: Web3 Secret Storage, version 3, with scrypt or PBKDF2. Takes about a second for the
 * files of usual wallets, in slices on the caller's thread, and up to 256 MB. If the file has an address, the key must be
 * that address's.
 *
 * @throws {TssError} VALIDATION, with `metadata.field` `password` if it does not open the file, and `keystore` for another
 *   file, one that asks for more work or memory than the limits, and one of another address.
 *
 * @example
 * const key = await keyFromKeystore({ keystore: await file.text(), password });
 * await client.importKey({ seed, ...key });
 * key.privateKey.fill(0);
 */
export async function keyFromKeystore({ keystore, password }: KeyFromKeystoreArgs): Promise<PrivateKey> {
  const parts = readKeystore(keystore);
  const secret = passwordBytes(password);
  let derived: Uint8Array | undefined;
  try {
    derived = await parts.derive(secret);
    const mac = keccak_256(concatBytes(derived.subarray(16, 32), parts.ciphertext));
    if (!equalBytes(mac, parts.mac)) throw invalidKey("password", "does not open the keystore");
    const privateKey = ctr(derived.subarray(0, 16), parts.iv).decrypt(parts.ciphertext);
    const key = { curve: "SECP256K1", privateKey } as const;
    const publicKey = publicKeyOf("keystore", key);
    if (parts.address === undefined || ethereumAddress(publicKey).toLowerCase() === parts.address) return key;
    privateKey.fill(0);
    throw invalidKey("keystore", "the key is not that of the address in the file");
  } finally {
    secret.fill(0);
    derived?.fill(0);
  }
}

/** Arguments of {@link keyFromKeystore}. */
export interface KeyFromKeystoreArgs {
  /** The content of the file, at most 10,000 characters. */
  readonly keystore: string;
  /** As text, which is encoded in UTF-8 as it is, or as bytes. At most 1,000 characters or bytes. */
  readonly password: string | Uint8Array;
}

const MAX_FILE_CHARACTERS = 10_000;
const MAX_PASSWORD_LENGTH = 1_000;
/** 128 N r bytes: geth's own files need exactly this. */
const MAX_SCRYPT_MEMORY_BYTES = 2 ** 28;
/** N r p: twice the work of geth's own files. */
const MAX_SCRYPT_WORK = 2 ** 22;
/** r p: 128 KB, which noble fills without a pause and keeps besides the 128 N r bytes. Usual files need 8. */
const MAX_SCRYPT_BLOCKS = 2 ** 10;
const MAX_PBKDF2_ROUNDS = 2_000_000;
const MAX_SALT_BYTES = 64;
const DERIVED_BYTES = 32;

function passwordBytes(password: string | Uint8Array): Uint8Array {
  const isText = typeof password === "string";
  if ((!isText && !(password instanceof Uint8Array)) || password.length > MAX_PASSWORD_LENGTH)
    throw invalidKey("password", `must be text or bytes, at most ${MAX_PASSWORD_LENGTH}`);
  return isText ? new TextEncoder().encode(password) : Uint8Array.from(password);
}

/** The parts of a keystore, whose cost is within the limits. */
interface KeystoreParts {
  readonly iv: Uint8Array;
  readonly ciphertext: Uint8Array;
  readonly mac: Uint8Array;
  /** In lower case, with 0x. */
  readonly address: string | undefined;
  derive(password: Uint8Array): Promise<Uint8Array>;
}

function readKeystore(text: string): KeystoreParts {
  if (typeof text !== "string" || text.length > MAX_FILE_CHARACTERS)
    throw invalidKey("keystore", `must be text of at most ${MAX_FILE_CHARACTERS} characters`);
  const file = objectOf(parseJson(text), "the file");
  if (file["version"] !== 3) throw invalidKey("keystore", "version: must be 3");
  const crypto = objectOf(file["crypto"] ?? file["Crypto"], "crypto");
  if (crypto["cipher"] !== "aes-128-ctr") throw invalidKey("keystore", "cipher: must be aes-128-ctr");
  const { address } = file;
  return {
    iv: bytesOf(objectOf(crypto["cipherparams"], "cipherparams")["iv"], "iv", 16),
    ciphertext: bytesOf(crypto["ciphertext"], "ciphertext", 32),
    mac: bytesOf(crypto["mac"], "mac", 32),
    address: typeof address === "string" ? `0x${address.replace(/^0x/i, "").toLowerCase()}` : undefined,
    derive: derivationOf(crypto["kdf"], objectOf(crypto["kdfparams"], "kdfparams")),
  };
}

function derivationOf(kdf: unknown, given: Readonly<Record<string, unknown>>): KeystoreParts["derive"] {
  const salt = bytesOf(given["salt"], "salt");
  const dkLen = DERIVED_BYTES;
  if (given["dklen"] !== dkLen) throw invalidKey("keystore", `dklen: must be ${dkLen}`);
  if (kdf === "scrypt") {
    const [N, r, p] = [countOf(given["n"], "n"), countOf(given["r"], "r"), countOf(given["p"], "p")];
    if (N < 2 || !Number.isInteger(Math.log2(N))) throw invalidKey("keystore", "n: must be a power of two");
    const isLarge = 128 * N * r > MAX_SCRYPT_MEMORY_BYTES || N * r * p > MAX_SCRYPT_WORK;
    if (isLarge || r * p > MAX_SCRYPT_BLOCKS)
      throw invalidKey("keystore", "n, r, p: ask for too much work or memory");
    const maxmem = 2 * MAX_SCRYPT_MEMORY_BYTES;
    return (password) => scryptAsync(password, salt, { N, r, p, dkLen, maxmem });
  }
  if (kdf === "pbkdf2") {
    if (given["prf"] !== "hmac-sha256") throw invalidKey("keystore", "prf: must be hmac-sha256");
    const c = countOf(given["c"], "c");
    if (c > MAX_PBKDF2_ROUNDS) throw invalidKey("keystore", "c: asks for too much work");
    return (password) => pbkdf2Async(sha256, password, salt, { c, dkLen });
  }
  throw invalidKey("keystore", "kdf: must be scrypt or pbkdf2");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own error quotes the text.
    throw invalidKey("keystore", "must be JSON");
  }
}

function objectOf(value: unknown, name: string): Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) throw invalidKey("keystore", `${name}: must be an object`);
  return value as Record<string, unknown>;
}

function bytesOf(value: unknown, name: string, length?: number): Uint8Array {
  const limit = length ?? MAX_SALT_BYTES;
  const isHex = typeof value === "string" && /^(0x)?([0-9a-fA-F]{2})*$/.test(value);
  const hex = isHex ? value.replace(/^0x/, "").toLowerCase() : "";
  const isRight = isHex && (length === undefined ? hex.length <= 2 * limit : hex.length === 2 * limit);
  const size = length === undefined ? `at most ${limit}` : String(limit);
  if (!isRight) throw invalidKey("keystore", `${name}: must be ${size} bytes in hex`);
  return hexToBytes(hex);
}

function countOf(value: unknown, name: string): number {
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 1) return value;
  throw invalidKey("keystore", `${name}: must be a whole number of at least 1`);
}
