import { createHmac, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from "node:crypto";
import type { Secret } from "../platform/telemetry/secret.ts";

/**
 * Creates the secrets of endpoints from WEBHOOK_SECRET_HEX: 32 bytes for HMAC-SHA256 and an Ed25519 key for each endpoint
 * and number. Every process that has the same setting makes the same ones, so that no database stores them.
 */
export function createEndpointSecrets(secretHex: Secret): EndpointSecrets {
  const master = Buffer.from(secretHex.reveal(), "hex");
  const derive = (use: string, { id, number }: SecretName): Buffer =>
    Buffer.from(hkdfSync("sha256", master, "", `tss/webhook/${use}/${id}/${number}`, SECRET_BYTES));
  const keyOf = (name: SecretName): KeyObject =>
    createPrivateKey({
      key: Buffer.concat([PRIVATE_PREFIX, derive("ed25519", name)]),
      format: "der",
      type: "pkcs8",
    });
  return {
    show: (name) => `whsec_${derive("hmac", name).toString("base64")}`,
    publicKey(name) {
      const spki = createPublicKey(keyOf(name)).export({ format: "der", type: "spki" });
      return new Uint8Array(spki.subarray(-SECRET_BYTES));
    },
    sign(names, { id, timestamp, body }) {
      const content = `${id}.${timestamp}.${body}`;
      return names
        .flatMap((name) => [
          `v1,${createHmac("sha256", derive("hmac", name)).update(content).digest("base64")}`,
          `v1a,${sign(null, Buffer.from(content), keyOf(name)).toString("base64")}`,
        ])
        .join(" ");
    },
  };
}

/** The secrets of endpoints. */
export interface EndpointSecrets {
  /** The secret as its project gets it: `whsec_` and base64. */
  show(name: SecretName): string;
  /** The 32 bytes of its Ed25519 public key. */
  publicKey(name: SecretName): Uint8Array<ArrayBuffer>;
  /** Returns the header `webhook-signature`: the signatures of each secret, separated by spaces. */
  sign(names: readonly SecretName[], message: SignedMessage): string;
}

/** Names one secret. */
export interface SecretName {
  /** The endpoint. */
  readonly id: string;
  /** From 1 on. */
  readonly number: number;
}

/** What a signature covers. */
export interface SignedMessage {
  /** The header `webhook-id`. */
  readonly id: string;
  /** The header `webhook-timestamp`: seconds since 1970. */
  readonly timestamp: number;
  readonly body: string;
}

const SECRET_BYTES = 32;
/** The beginning of an Ed25519 private key in PKCS #8 (RFC 8410). */
const PRIVATE_PREFIX = Buffer.from("302e020100300506032b657004220420", "hex");

/** Returns a public key as receivers write it: `whpk_` and base64. */
export function showPublicKey(bytes: Uint8Array): string {
  return `whpk_${Buffer.from(bytes).toString("base64")}`;
}
