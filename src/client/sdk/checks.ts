import { type AlgorithmTriple, isUnsupportedAlgorithm } from "../../protocol/algorithms.ts";
import { hexToBytes } from "../../protocol/bytes.ts";
import { isObjectId } from "../../protocol/chain/object-id.ts";
import { TssError } from "./errors.ts";
import { Curve, type Hash, type SignatureAlgorithm, tripleOfNames } from "./names.ts";

/** The longest message, in bytes. A pure argument of a Move call, with its length prefix, is below 16,384 bytes. */
export const MAX_MESSAGE_BYTES = 16_381;

/** Refuses a seed that is not 32 bytes. */
export function checkSeed(seed: Uint8Array): void {
  check32Bytes("seed", seed);
}

/** Refuses a private key that is not 32 bytes. */
export function checkPrivateKey(privateKey: Uint8Array): void {
  check32Bytes("privateKey", privateKey);
}

function check32Bytes(field: string, secret: Uint8Array): void {
  if (!(secret instanceof Uint8Array)) throw invalid(field, "must be a Uint8Array");
  if (secret.length !== 32) throw invalid(field, `must be 32 bytes, not ${secret.length}`);
}

/** Refuses a curve that is not one of the four names. */
export function checkCurve(curve: Curve): void {
  if (!Object.hasOwn(Curve, curve)) throw new TssError("UNSUPPORTED_ALGORITHM", "curve: unknown name");
}

/** Returns the triple of these names. Refuses a combination that the network does not support. */
export function checkTriple(curve: Curve, algorithm: SignatureAlgorithm, hash: Hash): AlgorithmTriple {
  const triple = tripleOfNames(curve, algorithm, hash);
  if (triple !== undefined) return triple;
  if (isUnsupportedAlgorithm(algorithm)) throw unsupportedAlgorithm(algorithm);
  throw new TssError(
    "UNSUPPORTED_ALGORITHM",
    `${String(curve)}, ${String(algorithm)}, ${String(hash)} is not a combination that the network supports`,
  );
}

/** Creates the error for an algorithm that Ika supports and this client does not. */
export function unsupportedAlgorithm(name: string): TssError {
  return new TssError(
    "UNSUPPORTED_ALGORITHM",
    `${name} signs with presigns of version 3, which this client cannot use`,
  );
}

/** Refuses an empty message and one of more than 16,381 bytes. */
export function checkMessage(message: Uint8Array): void {
  if (!(message instanceof Uint8Array)) throw invalid("message", "must be a Uint8Array");
  if (message.length === 0) throw invalid("message", "must not be empty");
  if (message.length > MAX_MESSAGE_BYTES) {
    throw new TssError(
      "MESSAGE_TOO_LARGE",
      `message: at most ${MAX_MESSAGE_BYTES} bytes, not ${message.length}`,
      { metadata: { limitBytes: String(MAX_MESSAGE_BYTES) } },
    );
  }
}

/** Refuses an id for which {@link isObjectId} is false. */
export function checkObjectId(field: string, id: string): void {
  if (!isObjectId(id)) {
    throw invalid(field, "must be 0x and 64 lower-case hex digits");
  }
}

/** Returns whether an id is a UUID in lower case. */
export function isUuid(id: string): boolean {
  return typeof id === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
}

/** Refuses an id for which {@link isUuid} is false. */
export function checkUuid(field: string, id: string): void {
  if (!isUuid(id)) {
    throw invalid(field, "must be a UUID");
  }
}

/** Returns whether a key is valid in the header `idempotency-key`: 1 to 255 visible ASCII characters. */
export function isIdempotencyKey(key: string): boolean {
  return typeof key === "string" && /^[!-~]{1,255}$/.test(key);
}

/** Refuses a key for which {@link isIdempotencyKey} is false. */
export function checkIdempotencyKey(key: string): void {
  if (!isIdempotencyKey(key)) throw invalid("idempotencyKey", "must be 1 to 255 visible ASCII characters");
}

/** Returns whether a name is valid: 1 to 128 characters, no control characters, no leading space. */
export function isDWalletName(name: string): boolean {
  return (
    typeof name === "string" && [...name].length <= 128 && /^[^ \p{Cc}\p{Cs}][^\p{Cc}\p{Cs}]*$/u.test(name)
  );
}

/** Refuses a name for which {@link isDWalletName} is false. */
export function checkDWalletName(name: string): void {
  if (!isDWalletName(name))
    throw invalid(
      "name",
      "must be 1 to 128 characters, without control characters and not beginning with a space",
    );
}

/** Returns whether a reference of a user is valid: 1 to 128 printable ASCII characters. */
export function isUserReference(reference: string): boolean {
  return typeof reference === "string" && /^[ -~]{1,128}$/.test(reference);
}

/** Refuses a reference for which {@link isUserReference} is false. Undefined names no user. */
export function checkUserReference(reference: string | undefined): void {
  if (reference !== undefined && !isUserReference(reference))
    throw invalid("userReference", "must be 1 to 128 printable ASCII characters");
}

/** Refuses a time-out that is not a positive number of milliseconds within a timer's range. */
export function checkTimeout(timeoutMs: number): void {
  if (!Number.isFinite(timeoutMs) || timeoutMs <= 0 || timeoutMs > 0x7fff_ffff) {
    throw invalid("timeoutMs", "must be between 1 and 2147483647");
  }
}

/** Reads a session digest, 64 lower-case hex digits. */
export function readSessionDigest(hex: string): Uint8Array {
  if (typeof hex !== "string" || !/^[0-9a-f]{64}$/.test(hex)) {
    throw invalid("sessionDigestHex", "must be 64 lower-case hex digits");
  }
  return hexToBytes(hex);
}

/** Refuses a public key that is not lower-case hex of the curve's length. */
export function checkPublicKeyHex(curve: Curve, hex: string): void {
  const byteCount = curve === "SECP256K1" || curve === "SECP256R1" ? 33 : 32;
  if (typeof hex !== "string" || !/^[0-9a-f]+$/.test(hex) || hex.length !== 2 * byteCount)
    throw invalid("publicKeyHex", `must be ${2 * byteCount} lower-case hex digits`);
}

/** Reads a secret in hex. The error does not quote the digits. */
export function readSecretHex(field: string, hex: string): Uint8Array {
  try {
    return hexToBytes(hex.startsWith("0x") ? hex.slice(2) : hex);
  } catch {
    throw invalid(field, "must be hex");
  }
}

/** Creates the error for a malformed argument, with the argument's name. */
export function invalid(field: string, problem: string): TssError {
  return new TssError("VALIDATION", `${field}: ${problem}`, { metadata: { field } });
}
