import { createPrivateKey, createPublicKey, type KeyObject, sign, verify } from "node:crypto";
import { signedBytes } from "../seals/audit-seal.ts";
import type { Secret } from "../telemetry/secret.ts";

/** Returns the key of an Ed25519 secret of 64 hex digits. */
export function createSealKey(secretHex: Secret): SealKey {
  const secret = Buffer.from(secretHex.reveal(), "hex");
  const key = createPrivateKey({
    key: Buffer.concat([PRIVATE_PREFIX, secret]),
    format: "der",
    type: "pkcs8",
  });
  const spki = createPublicKey(key).export({ format: "der", type: "spki" });
  return {
    publicKey: spki.subarray(PUBLIC_PREFIX.length),
    signSeal: (sealHash) => sign(null, signedBytes(sealHash), key),
  };
}

/** The key that seals are signed with. */
export interface SealKey {
  /** Ed25519, 32 bytes. */
  readonly publicKey: Uint8Array;
  /** Returns the signature, 64 bytes. */
  signSeal(sealHash: Uint8Array): Uint8Array;
}

/** The bytes before the 32 bytes of a key, in PKCS #8 and in SPKI (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");
const PUBLIC_PREFIX = Buffer.from("302a300506032b6570032100", "hex");

/** True if the signature over the seal's hash verifies under the public key of 32 bytes. */
export function verifySealSignature(
  publicKey: Uint8Array,
  sealHash: Uint8Array,
  signature: Uint8Array,
): boolean {
  return verify(null, signedBytes(sealHash), importKey(publicKey), signature);
}

function importKey(publicKey: Uint8Array): KeyObject {
  const key = Buffer.concat([PUBLIC_PREFIX, publicKey]);
  return createPublicKey({ key, format: "der", type: "spki" });
}
