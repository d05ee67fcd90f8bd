/**
 * The address functions of the package's entry. They wrap `protocol` instead of re-exporting it: a bundler that splits
 * by file, such as esbuild, would otherwise load the address code with every page that imports the entry, because
 * actions need it too.
 */

import type { CurveName } from "../../protocol/algorithms.ts";
import * as own from "../../protocol/signatures/addresses.ts";

export type { BitcoinPrefix, NamedAddress, SuiScheme } from "../../protocol/signatures/addresses.ts";

/**
 * Returns the addresses of a dWallet's public key. Bitcoin addresses are for mainnet; use {@link bitcoinP2wpkhAddress}
 * and {@link bitcoinP2trAddress} for its other networks.
 *
 * @throws {RangeError} when the key is not a public key on this curve: 33 bytes (compressed) on the secp curves, else 32.
 *
 * @example
 * addressesOfKey("ED25519", publicKey); // [{ kind: "solana", … }, { kind: "sui", … }]
 */
export function addressesOfKey(curve: CurveName, publicKey: Uint8Array): own.NamedAddress[] {
  return own.addressesOfKey(curve, publicKey);
}

/**
 * Returns the Ethereum address of a compressed (33-byte) secp256k1 public key, with its EIP-55 checksum.
 *
 * @throws {RangeError} when the key is not a compressed point on the curve.
 *
 * @example
 * ethereumAddress(publicKey); // "0x…"
 */
export function ethereumAddress(publicKey: Uint8Array): string {
  return own.ethereumAddress(publicKey);
}

/**
 * Returns the pay-to-witness-public-key-hash address (BIP-84) of a compressed secp256k1 key. `prefix` selects the
 * network; the default is `bc`, mainnet.
 *
 * @throws {RangeError} when the key is not a compressed point on the curve.
 *
 * @example
 * bitcoinP2wpkhAddress(publicKey); // "bc1q…"
 */
export function bitcoinP2wpkhAddress(publicKey: Uint8Array, prefix?: own.BitcoinPrefix): string {
  return own.bitcoinP2wpkhAddress(publicKey, prefix);
}

/**
 * Returns the pay-to-Taproot address whose output key is the dWallet's x coordinate, without a tweak. `prefix` selects
 * the network; the default is `bc`, mainnet.
 *
 * @throws {RangeError} when the key is not a compressed point on the curve.
 *
 * @example
 * bitcoinP2trAddress(publicKey); // "bc1p…"
 */
export function bitcoinP2trAddress(publicKey: Uint8Array, prefix?: own.BitcoinPrefix): string {
  return own.bitcoinP2trAddress(publicKey, prefix);
}

/**
 * Returns the Solana address: the Ed25519 public key in Base58.
 *
 * @throws {RangeError} when the key does not have 32 bytes.
 *
 * @example
 * solanaAddress(publicKey); // "9xQe…"
 */
export function solanaAddress(publicKey: Uint8Array): string {
  return own.solanaAddress(publicKey);
}

/**
 * Returns the Sui address: BLAKE2b-256 over the scheme's flag and the public key (33 bytes for the secp curves, else
 * 32).
 *
 * @throws {RangeError} when the key has another form.
 *
 * @example
 * suiAddress("ED25519", publicKey); // "0x…"
 */
export function suiAddress(scheme: own.SuiScheme, publicKey: Uint8Array): string {
  return own.suiAddress(scheme, publicKey);
}

/**
 * Returns the SS58 address of an sr25519 or Ed25519 key. The default of `prefix` is 42, Substrate's generic prefix.
 *
 * @throws {RangeError} when `prefix` is not an integer from 0 to 63, or the key does not have 32 bytes.
 *
 * @example
 * polkadotAddress(publicKey, 0); // Polkadot itself
 */
export function polkadotAddress(publicKey: Uint8Array, prefix?: number): string {
  return own.polkadotAddress(publicKey, prefix);
}
