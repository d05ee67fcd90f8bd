import { toBase58 } from "@mysten/sui/utils";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { blake2b } from "@noble/hashes/blake2.js";
import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { bech32, bech32m, createBase58check } from "@scure/base";
import type { CurveName, HashName, SignatureAlgorithmName } from "../algorithms.ts";

/**
 * Returns the Ethereum address of a compressed secp256k1 public key (33 bytes), with its EIP-55 checksum. Like all
 * functions here, throws RangeError for a key of another form, because coins that are sent to its address are lost.
 */
export function ethereumAddress(publicKey: Uint8Array): string {
  const uncompressed = checkedPoint(publicKey).toBytes(false);
  const hex = bytesToHex(keccak_256(uncompressed.subarray(1)).subarray(12));
  const checksum = bytesToHex(keccak_256(new TextEncoder().encode(hex)));
  const mixed = [...hex].map((digit, index) =>
    Number.parseInt(checksum[index]!, 16) >= 8 ? digit.toUpperCase() : digit,
  );
  return `0x${mixed.join("")}`;
}

/** Human-readable parts of Bitcoin's networks. */
export type BitcoinPrefix = "bc" | "tb" | "bcrt";

/**
 * Returns the pay-to-witness-public-key-hash address (BIP-84) of a compressed secp256k1 key. ECDSA with DoubleSHA256
 * spends from it. `prefix` selects the network; the default is `bc`, mainnet.
 *
 * @example
 * bitcoinP2wpkhAddress(publicKey); // "bc1q…"
 */
export function bitcoinP2wpkhAddress(publicKey: Uint8Array, prefix: BitcoinPrefix = "bc"): string {
  return encodeSegwitAddress(prefix, 0, publicKeyHash(publicKey));
}

/**
 * Returns the address of P2WPKH inside P2SH (BIP-49), which old wallets can pay. ECDSA with DoubleSHA256 spends from it.
 * `prefix` selects the network; the default is `bc`, mainnet.
 *
 * @example
 * bitcoinP2shP2wpkhAddress(publicKey); // "3…"
 */
export function bitcoinP2shP2wpkhAddress(publicKey: Uint8Array, prefix: BitcoinPrefix = "bc"): string {
  const redeemScript = concatBytes(Uint8Array.of(0, 20), publicKeyHash(publicKey));
  return encodeLegacyAddress(prefix === "bc" ? 0x05 : 0xc4, ripemd160(sha256(redeemScript)));
}

/**
 * Returns the pay-to-public-key-hash address (BIP-44), from the time before SegWit. ECDSA with DoubleSHA256 spends from
 * it. `prefix` selects the network; the default is `bc`, mainnet.
 *
 * @example
 * bitcoinP2pkhAddress(publicKey); // "1…"
 */
export function bitcoinP2pkhAddress(publicKey: Uint8Array, prefix: BitcoinPrefix = "bc"): string {
  return encodeLegacyAddress(prefix === "bc" ? 0x00 : 0x6f, publicKeyHash(publicKey));
}

/**
 * Returns the pay-to-Taproot address whose output key is the dWallet's x coordinate, without a tweak, because the
 * network signs under the dWallet's own key. Wallets show another address for the same key, with the tweak of BIP-86;
 * no dWallet can spend from that one. `prefix` selects the network; the default is `bc`, mainnet.
 *
 * @example
 * bitcoinP2trAddress(publicKey); // "bc1p…"
 */
export function bitcoinP2trAddress(publicKey: Uint8Array, prefix: BitcoinPrefix = "bc"): string {
  return encodeSegwitAddress(prefix, 1, checkedPoint(publicKey).toBytes(true).subarray(1));
}

function publicKeyHash(publicKey: Uint8Array): Uint8Array {
  return ripemd160(sha256(checkedPoint(publicKey).toBytes(true)));
}

/** Encodes an address from before SegWit: a version and a hash, in Base58Check. */
function encodeLegacyAddress(version: number, hash: Uint8Array): string {
  return createBase58check(sha256).encode(concatBytes(Uint8Array.of(version), hash));
}

/** Encodes a segregated-witness address: bech32 for version 0 (BIP-173), bech32m for the versions from 1 (BIP-350). */
function encodeSegwitAddress(prefix: BitcoinPrefix, version: number, program: Uint8Array): string {
  const encoding = version === 0 ? bech32 : bech32m;
  return encoding.encode(prefix, [version, ...encoding.toWords(program)]);
}

/** Returns the Solana address: the Ed25519 public key in Base58. */
export function solanaAddress(publicKey: Uint8Array): string {
  checkForm("ED25519", publicKey);
  return toBase58(publicKey);
}

/** Signature schemes of Sui. */
export type SuiScheme = "ED25519" | "SECP256K1" | "SECP256R1";

/**
 * Returns the Sui address: BLAKE2b-256 over the scheme's flag and the public key (33 bytes for the secp curves, else
 * 32).
 */
export function suiAddress(scheme: SuiScheme, publicKey: Uint8Array): string {
  checkForm(scheme, publicKey);
  const flag = { ED25519: 0, SECP256K1: 1, SECP256R1: 2 }[scheme];
  return `0x${bytesToHex(blake2b(concatBytes(Uint8Array.of(flag), publicKey), { dkLen: 32 }))}`;
}

/**
 * Returns the SS58 address of an sr25519 or Ed25519 key. `prefix` is 0 to 63; the default, 42, is Substrate's generic
 * prefix.
 */
export function polkadotAddress(publicKey: Uint8Array, prefix = 42): string {
  if (!Number.isInteger(prefix) || prefix < 0 || prefix > 63) throw new RangeError("SS58 prefix: 0 to 63");
  checkForm("RISTRETTO", publicKey);
  const body = concatBytes(Uint8Array.of(prefix), publicKey);
  const checksum = blake2b(concatBytes(new TextEncoder().encode("SS58PRE"), body), { dkLen: 64 });
  return toBase58(concatBytes(body, checksum.subarray(0, 2)));
}

/** One address of a dWallet's public key, and its kind. */
export interface NamedAddress {
  readonly kind: "ethereum" | "bitcoin-p2wpkh" | "bitcoin-p2tr" | "solana" | "sui" | "polkadot";
  readonly address: string;
}

/**
 * Returns the key's address on the chain that typically uses the algorithm. ECDSA on secp256k1 yields a Bitcoin address
 * for DoubleSHA256 and an Ethereum address for the other hashes.
 */
export function addressOfKey(
  signatureAlgorithm: SignatureAlgorithmName,
  hash: HashName,
  publicKey: Uint8Array,
): NamedAddress {
  switch (signatureAlgorithm) {
    case "ECDSASecp256k1":
      return hash === "DoubleSHA256"
        ? { kind: "bitcoin-p2wpkh", address: bitcoinP2wpkhAddress(publicKey) }
        : { kind: "ethereum", address: ethereumAddress(publicKey) };
    case "Taproot":
      return { kind: "bitcoin-p2tr", address: bitcoinP2trAddress(publicKey) };
    case "ECDSASecp256r1":
      return { kind: "sui", address: suiAddress("SECP256R1", publicKey) };
    case "EdDSA":
      return { kind: "solana", address: solanaAddress(publicKey) };
    case "Schnorrkel":
      return { kind: "polkadot", address: polkadotAddress(publicKey) };
  }
}

/**
 * Returns all addresses of a dWallet's public key. The Bitcoin addresses are for mainnet; {@link bitcoinP2wpkhAddress}
 * and {@link bitcoinP2trAddress} also encode them for its other networks.
 *
 * @example
 * addressesOfKey("ED25519", publicKey); // [{ kind: "solana", … }, { kind: "sui", … }]
 */
export function addressesOfKey(curve: CurveName, publicKey: Uint8Array): NamedAddress[] {
  switch (curve) {
    case "SECP256K1":
      return [
        { kind: "ethereum", address: ethereumAddress(publicKey) },
        { kind: "bitcoin-p2wpkh", address: bitcoinP2wpkhAddress(publicKey) },
        { kind: "bitcoin-p2tr", address: bitcoinP2trAddress(publicKey) },
        { kind: "sui", address: suiAddress(curve, publicKey) },
      ];
    case "SECP256R1":
      return [{ kind: "sui", address: suiAddress(curve, publicKey) }];
    case "ED25519":
      return [
        { kind: "solana", address: solanaAddress(publicKey) },
        { kind: "sui", address: suiAddress(curve, publicKey) },
      ];
    case "RISTRETTO":
      return [{ kind: "polkadot", address: polkadotAddress(publicKey) }];
  }
}

/** Throws unless the key is a compressed point of a secp curve, or has the 32 bytes of the other curves. */
function checkForm(curve: CurveName, publicKey: Uint8Array): void {
  const isCompressed = curve === "SECP256K1" || curve === "SECP256R1";
  const length = isCompressed ? 33 : 32;
  if (publicKey.length !== length)
    throw new RangeError(`a public key on ${curve} has ${length} bytes, not ${publicKey.length}`);
  if (isCompressed && publicKey[0] !== 2 && publicKey[0] !== 3)
    throw new RangeError(`a compressed public key on ${curve} begins with 2 or 3, not ${publicKey[0]}`);
}

function checkedPoint(publicKey: Uint8Array): InstanceType<typeof secp256k1.Point> {
  checkForm("SECP256K1", publicKey);
  try {
    return secp256k1.Point.fromBytes(publicKey);
  } catch (cause) {
    throw new RangeError("the public key is not a point on SECP256K1", { cause });
  }
}
