import { ed25519 } from "@noble/curves/ed25519.js";
import { hmac } from "@noble/hashes/hmac.js";
import { sha512 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { type CurveName, curveNumber } from "../../protocol/algorithms.ts";
import { deriveClassGroupsKeypair } from "../../protocol/class-groups/keypair.ts";
import { suiAddress } from "../../protocol/signatures/addresses.ts";
import { EngineError, type UserKeys } from "./engine.ts";
import { ownUserKeys, type PlainUserKeys } from "./plain-data.ts";

/**
 * Derives the keys of a seed on one curve, equal to those of the Ika SDK's `UserShareEncryptionKeys.fromRootSeedKey`.
 * The seed of each key is keccak256(domain || curve number || seed). The signer is derived from its seed with SLIP-0010
 * at Sui's path. Takes about 50 ms on the caller's thread.
 */
export function derivePlainUserKeys(seed: Uint8Array, curve: CurveName): PlainUserKeys {
  if (seed.length !== 32) throw new EngineError(`seed: 32 bytes, not ${seed.length}`);
  const classGroupsSeed = domainSeed("CLASS_GROUPS_DECRYPTION_KEY_V1", seed, curve);
  const { encryptionKey, decryptionKey } = deriveClassGroupsKeypair(curveNumber(curve), classGroupsSeed);
  classGroupsSeed.fill(0);
  const signerSecretKey = deriveSigner(seed, curve);
  const signerPublicKey = ed25519.getPublicKey(signerSecretKey);
  const signerAddress = suiAddress("ED25519", signerPublicKey);
  return { curve, encryptionKey, decryptionKey, signerPublicKey, signerAddress, signerSecretKey };
}

/** Derives the same keys as {@link derivePlainUserKeys}, with secrets that the caller can destroy. */
export function deriveUserKeys(seed: Uint8Array, curve: CurveName): UserKeys {
  return ownUserKeys(derivePlainUserKeys(seed, curve));
}

/** Returns the Sui address of a seed's signer on one curve. Takes about 5 ms. */
export function signerAddressOf(seed: Uint8Array, curve: CurveName): string {
  const secretKey = deriveSigner(seed, curve);
  const address = suiAddress("ED25519", ed25519.getPublicKey(secretKey));
  secretKey.fill(0);
  return address;
}

function deriveSigner(seed: Uint8Array, curve: CurveName): Uint8Array {
  const signerSeed = domainSeed("ED25519_SIGNING_KEY_V1", seed, curve);
  const secretKey = deriveEd25519SecretKey(signerSeed, SUI_PATH);
  signerSeed.fill(0);
  return secretKey;
}

/** Signs the encryption key, as its registration on the chain requires. Returns 64 bytes. */
export function signEncryptionKey(keys: UserKeys): Uint8Array {
  return ed25519.sign(keys.encryptionKey, keys.signerSecretKey.reveal());
}

/** Signs a dWallet's public output, as accepting the share requires. Returns 64 bytes. */
export function signDWalletOutput(keys: UserKeys, dwalletOutput: Uint8Array): Uint8Array {
  return ed25519.sign(dwalletOutput, keys.signerSecretKey.reveal());
}

/** Signs a dWallet owner's consent for the Treasury. Returns 64 bytes. */
export function signAsOwner(keys: UserKeys, consent: Uint8Array): Uint8Array {
  return ed25519.sign(consent, keys.signerSecretKey.reveal());
}

function domainSeed(domain: string, seed: Uint8Array, curve: CurveName): Uint8Array {
  const input = concatBytes(new TextEncoder().encode(domain), Uint8Array.of(curveNumber(curve)), seed);
  const derived = keccak_256(input);
  input.fill(0);
  return derived;
}

/** m/44'/784'/0'/0'/0' */
const SUI_PATH = [44, 784, 0, 0, 0];

/**
 * Derives the Ed25519 secret key at a path of hardened indices below a seed (SLIP-0010). `path` contains the indices
 * without the hardened bit. The caller must overwrite the result; this function overwrites all intermediate secrets.
 */
export function deriveEd25519SecretKey(seed: Uint8Array, path: readonly number[]): Uint8Array {
  let node = hmac(sha512, new TextEncoder().encode("ed25519 seed"), seed);
  for (const index of path) {
    const hardened = new Uint8Array(4);
    new DataView(hardened.buffer).setUint32(0, (index | 0x8000_0000) >>> 0);
    const data = concatBytes(Uint8Array.of(0), node.subarray(0, 32), hardened);
    const child = hmac(sha512, node.subarray(32), data);
    data.fill(0);
    node.fill(0);
    node = child;
  }
  const key = node.slice(0, 32);
  node.fill(0);
  return key;
}
