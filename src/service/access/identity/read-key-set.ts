import { createPublicKey, type JsonWebKey } from "node:crypto";
import type { JSONWebKeySet, JWK } from "jose";

/**
 * Reads a key set (RFC 7517) and returns its public signature keys. Ignores symmetric keys, keys for encryption, curves
 * that no accepted algorithm uses, and RSA keys below 2048 or above 8192 bits. Throws {@link KeySetMalformed} for a text that is no
 * key set, for more than 32 keys, for a private key, and if no usable key is left.
 */
export function readKeySet(text: string): JSONWebKeySet {
  const set = parse(text);
  const keys = set.filter(isUsable).map(publicParts);
  if (keys.length === 0) throw new KeySetMalformed("the key set has no usable key");
  return { keys };
}

/** A text that is no usable key set. The message is public. */
export class KeySetMalformed extends Error {
  override readonly name = "KeySetMalformed";
}

/** The maximum number of keys of a set. */
const KEYS_MAX_COUNT = 32;
const PRIVATE_PARTS = ["d", "p", "q", "dp", "dq", "qi", "oth"];
const RSA_MIN_BITS = 2_048;
/** A larger key would make each verification slow. */
const RSA_MAX_BITS = 8_192;
const CURVES: Readonly<Record<string, readonly string[]>> = {
  EC: ["P-256", "P-384", "P-521"],
  OKP: ["Ed25519"],
};

function parse(text: string): JWK[] {
  let set: unknown;
  try {
    set = JSON.parse(text);
  } catch {
    throw new KeySetMalformed("the key set is not JSON");
  }
  const keys = isObject(set) ? set["keys"] : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw new KeySetMalformed("the key set has no list `keys`");
  if (keys.length > KEYS_MAX_COUNT)
    throw new KeySetMalformed(`the key set has more than ${KEYS_MAX_COUNT} keys`);
  if (keys.some((key) => PRIVATE_PARTS.some((part) => part in key)))
    throw new KeySetMalformed("the key set contains a private key");
  return keys as JWK[];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isUsable(key: JWK): boolean {
  if (key.use !== undefined && key.use !== "sig") return false;
  if (key.kty !== "RSA" && !CURVES[key.kty ?? ""]?.includes(key.crv ?? "")) return false;
  try {
    const { asymmetricKeyDetails } = createPublicKey({ key: key as JsonWebKey, format: "jwk" });
    const bits = asymmetricKeyDetails?.modulusLength;
    return key.kty !== "RSA" || (bits !== undefined && bits >= RSA_MIN_BITS && bits <= RSA_MAX_BITS);
  } catch {
    return false;
  }
}

/** Leaves out certificates and everything else that nobody reads, so that a set in memory is small. */
function publicParts({ kty, crv, x, y, n, e, kid, alg, use, key_ops: operations }: JWK): JWK {
  const key = { kty, crv, x, y, n, e, kid, alg, use, key_ops: operations };
  return Object.fromEntries(Object.entries(key).filter(([, value]) => value !== undefined)) as JWK;
}
