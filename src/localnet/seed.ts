import { utf8ToBytes } from "@noble/hashes/utils.js";
import { blake2b256 } from "../protocol/chain/sui-hash.ts";

/**
 * The default seed of local networks: 32 public bytes. All keys of such a network are derived from it, including the
 * network encryption key and the hot wallet's key, so nothing on the network is secret.
 */
export const LOCALNET_SEED: Uint8Array = utf8ToBytes("ika-localnet-public-dev-seed-001");

/**
 * Returns the Ed25519 secret (32 bytes) of the hot wallet that a local network funds by default. It is public: a
 * service must reject it for any other network.
 */
export function localnetHotWalletSecret(seed: Uint8Array = LOCALNET_SEED): Uint8Array {
  return blake2b256(utf8ToBytes("ika-localnet/hot-wallet/"), seed);
}

/**
 * Returns the default seed (32 bytes) of deposit addresses on a local network. It is public: a service must reject it
 * for any other network.
 */
export function localnetDepositSeed(seed: Uint8Array = LOCALNET_SEED): Uint8Array {
  return blake2b256(utf8ToBytes("ika-localnet/deposit-seed/"), seed);
}

/** Returns the public secrets (32 bytes each) of a local network. A service must reject them for any other network. */
export function publicDevelopmentSecrets(): Uint8Array[] {
  return [LOCALNET_SEED, localnetHotWalletSecret(), localnetDepositSeed()];
}
