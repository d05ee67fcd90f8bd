import { base64urlnopad } from "@scure/base";
import { invalid } from "../../sdk/checks.ts";
import { TssError } from "../../sdk/errors.ts";
import { type PasskeyReference, readCredentialId } from "./ask-passkey.ts";
import { deriveWrappingKey, SECRET_BYTES } from "./derive-secrets.ts";

/**
 * A seed that one passkey can open: `v1.<credential id>.<nonce | ciphertext | tag>`, both in base64url. AES-256-GCM with
 * a key of the passkey encrypts it. The text before the second point is the associated data.
 */
export interface WrappedSeed extends PasskeyReference {
  /** The text before the second point. */
  readonly header: string;
  readonly nonce: Uint8Array<ArrayBuffer>;
  /** The ciphertext and its tag. */
  readonly sealed: Uint8Array<ArrayBuffer>;
}

/** Reads the text of a wrapped seed. Refuses another version or form as VALIDATION. */
export function readWrappedSeed(text: string): WrappedSeed {
  const [, version = "", credentialId = "", body = ""] = FORM.exec(text) ?? [];
  if (version === "") throw invalid("wrappedSeed", MALFORMED);
  if (version !== VERSION) {
    throw invalid("wrappedSeed", `has version ${version}, which this client cannot read`);
  }
  readCredentialId(credentialId);
  let bytes: Uint8Array<ArrayBuffer>;
  try {
    bytes = Uint8Array.from(base64urlnopad.decode(body));
  } catch {
    throw invalid("wrappedSeed", MALFORMED);
  }
  if (bytes.length !== NONCE_BYTES + SECRET_BYTES + TAG_BYTES) throw invalid("wrappedSeed", MALFORMED);
  return {
    credentialId,
    header: headerOf(credentialId),
    nonce: bytes.subarray(0, NONCE_BYTES),
    sealed: bytes.subarray(NONCE_BYTES),
  };
}

/** Encrypts a seed with a passkey's value. */
export async function sealSeed(
  seed: Uint8Array<ArrayBuffer>,
  value: Uint8Array,
  credentialId: string,
): Promise<string> {
  const header = headerOf(credentialId);
  const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
  const key = await wrappingKey(value, "encrypt");
  const sealed = await crypto.subtle.encrypt(parametersOf(header, nonce), key, seed);
  const body = new Uint8Array(NONCE_BYTES + sealed.byteLength);
  body.set(nonce);
  body.set(new Uint8Array(sealed), NONCE_BYTES);
  return `${header}.${base64urlnopad.encode(body)}`;
}

/** Decrypts a wrapped seed. Throws PASSKEY_MISMATCH unless it is of this passkey and unchanged. */
export async function openWrappedSeed(
  { credentialId, header, nonce, sealed }: WrappedSeed,
  value: Uint8Array,
): Promise<Uint8Array> {
  const key = await wrappingKey(value, "decrypt");
  try {
    return new Uint8Array(await crypto.subtle.decrypt(parametersOf(header, nonce), key, sealed));
  } catch {
    throw new TssError("PASSKEY_MISMATCH", "the wrapped seed was changed, or it is not of this passkey", {
      metadata: { credentialId },
    });
  }
}

/** The derived key, which no code can read again. */
async function wrappingKey(value: Uint8Array, usage: "encrypt" | "decrypt"): Promise<CryptoKey> {
  const bytes = deriveWrappingKey(value);
  try {
    return await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, [usage]);
  } finally {
    bytes.fill(0);
  }
}

function parametersOf(header: string, iv: Uint8Array<ArrayBuffer>): AesGcmParams {
  return {
    name: "AES-GCM",
    iv,
    additionalData: new TextEncoder().encode(header),
    tagLength: 8 * TAG_BYTES,
  };
}

/** The text before the second point: the associated data. */
function headerOf(credentialId: string): string {
  return `v${VERSION}.${credentialId}`;
}

/** The version of the form and of the derivation of its key. */
const VERSION = "1";
const FORM = /^v(\d{1,4})\.([\w-]+)\.([\w-]+)$/;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const MALFORMED = "must be a result of wrapSeed";
