import { utf8ToBytes } from "@noble/hashes/utils.js";
import { blake2b256 } from "./fullnode/bytes.ts";

/**
 * The seed of every local network that is given none: 32 bytes that anyone can read here. All keys of such a
 * network, the network encryption key's and the hot wallet's included, follow from it, so nothing on it is secret.
 */
export const LOCALNET_SEED: Uint8Array = utf8ToBytes("ika-localnet-public-dev-seed-001");

/**
 * The Ed25519 secret (32 bytes) of the hot wallet that a local network funds by default. It is public knowledge:
 * a service must refuse it for any other network.
 */
export function localnetHotWalletSecret(seed: Uint8Array = LOCALNET_SEED): Uint8Array {
  return blake2b256(utf8ToBytes("ika-localnet/hot-wallet/"), seed);
}

/**
 * The seed (32 bytes) that deposit addresses on a local network follow from by default. It is public knowledge: a
 * service must refuse it for any other network.
 */
export function localnetDepositSeed(seed: Uint8Array = LOCALNET_SEED): Uint8Array {
  return blake2b256(utf8ToBytes("ika-localnet/deposit-seed/"), seed);
}

/** Every secret (32 bytes) of a local network that anyone can read in this code. */
export function publicDevelopmentSecrets(): Uint8Array[] {
  return [LOCALNET_SEED, localnetHotWalletSecret(), localnetDepositSeed()];
}
