import { createECDH, createPrivateKey, createPublicKey } from "node:crypto";
import { sr25519PairFromSeed } from "@polkadot/util-crypto";
import { pointFromScalar } from "tiny-secp256k1";
import type { CurveName } from "../../../src/protocol/algorithms.ts";
import { bigIntFromLittleEndian, bigIntToLittleEndian } from "../../../src/protocol/bytes.ts";

/** A private key as the client imports it, and its public key by a library that the client does not use. */
export interface KnownKey {
  readonly privateKey: Uint8Array;
  readonly publicKey: Uint8Array;
}

const SECRET = new Uint8Array(32).fill(0x42);

/** One key on each curve: by libsecp256k1, OpenSSL and Polkadot's sr25519. */
export const PRIVATE_KEYS: Readonly<Record<CurveName, KnownKey>> = {
  SECP256K1: { privateKey: SECRET, publicKey: Uint8Array.from(pointFromScalar(SECRET, true)!) },
  SECP256R1: { privateKey: SECRET, publicKey: p256PublicKey(SECRET) },
  ED25519: { privateKey: SECRET, publicKey: ed25519PublicKey(SECRET) },
  RISTRETTO: sr25519Key(SECRET),
};

/** The public key of an Ed25519 seed, by OpenSSL. */
export function ed25519PublicKey(seed: Uint8Array): Uint8Array {
  const der = Buffer.concat([Buffer.from("302e020100300506032b657004220420", "hex"), seed]);
  const key = createPublicKey(createPrivateKey({ key: der, format: "der", type: "pkcs8" }));
  return new Uint8Array(Buffer.from(key.export({ format: "jwk" }).x!, "base64url"));
}

function p256PublicKey(secret: Uint8Array): Uint8Array {
  const key = createECDH("prime256v1");
  key.setPrivateKey(secret);
  return Uint8Array.from(key.getPublicKey(null, "compressed"));
}

/** Polkadot stores the scalar times eight. */
function sr25519Key(seed: Uint8Array): KnownKey {
  const { publicKey, secretKey } = sr25519PairFromSeed(seed);
  const scalar = bigIntFromLittleEndian(secretKey.subarray(0, 32)) >> 3n;
  return { privateKey: bigIntToLittleEndian(scalar, 32), publicKey: Uint8Array.from(publicKey) };
}
