/** JSON Web Tokens made with Node's cryptography alone, because the service verifies them with another library. */
import {
  constants,
  createHash,
  createHmac,
  generateKeyPairSync,
  type KeyObject,
  type SignKeyObjectInput,
  sign,
} from "node:crypto";

/** Encodes an object or a text in base64url. */
export function encoded(part: unknown): string {
  return Buffer.from(typeof part === "string" ? part : JSON.stringify(part)).toString("base64url");
}

/** Makes a token with this header and these claims. The header's `alg` selects the algorithm of the signature. */
export function signedToken(
  header: Readonly<Record<string, unknown>> & { readonly alg: string },
  claims: unknown,
  key: KeyObject,
): string {
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${signatureOf(header.alg, text, key).toString("base64url")}`;
}

/** Makes a token whose signature is an HMAC. */
export function hmacToken(
  header: Readonly<Record<string, unknown>>,
  claims: unknown,
  secret: string | Uint8Array,
): string {
  const text = `${encoded(header)}.${encoded(claims)}`;
  return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
}

function signatureOf(algorithm: string, text: string, key: KeyObject): Buffer {
  const hash = `sha${/\d+$/.exec(algorithm)?.[0] ?? ""}`;
  if (algorithm.startsWith("Ed")) return sign(null, Buffer.from(text), key);
  const padding: Partial<SignKeyObjectInput> = algorithm.startsWith("PS")
    ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    : algorithm.startsWith("ES")
      ? { dsaEncoding: "ieee-p1363" }
      : {};
  return sign(hash, Buffer.from(text), { key, ...padding });
}

/** A key pair of an issuer or a device. */
export interface TokenKey {
  readonly privateKey: KeyObject;
  /** The public key as a JSON Web Key. */
  readonly jwk: Readonly<Record<string, unknown>>;
}

/** Generates a key pair for an algorithm. */
export function tokenKey(algorithm: string, kid?: string, modulusLength = 2_048): TokenKey {
  const pair = algorithm.startsWith("Ed")
    ? generateKeyPairSync("ed25519")
    : algorithm.startsWith("ES")
      ? generateKeyPairSync("ec", { namedCurve: { ES256: "P-256", ES384: "P-384" }[algorithm] ?? "P-521" })
      : generateKeyPairSync("rsa", { modulusLength });
  const jwk = { ...pair.publicKey.export({ format: "jwk" }), ...(kid !== undefined && { kid }) };
  return { privateKey: pair.privateKey, jwk };
}

/** The RFC 7638 thumbprint of a P-256 or Ed25519 key. */
export function thumbprintOf({ jwk }: TokenKey): string {
  const { crv, kty, x, y } = jwk as Record<string, string>;
  const members = kty === "EC" ? { crv, kty, x, y } : { crv, kty, x };
  return createHash("sha256").update(JSON.stringify(members)).digest("base64url");
}
