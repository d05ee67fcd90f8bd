import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian, uint32ToLittleEndian } from "../../protocol/bytes.ts";
import type { Input, Output } from "./psbt-transaction.ts";

/** The inputs and outputs that a signature commits to. */
export interface SighashType {
  readonly outputs: "all" | "none" | "single";
  /** Whether it commits to its own input only. */
  readonly isAnyoneCanPay: boolean;
}

/**
 * Reads the sighash byte after a signature. 0 means all and is valid only in Taproot. Returns undefined for an unknown
 * byte.
 */
export function readSighashType(byte: number): SighashType | undefined {
  const outputs = ({ 0: "all", 1: "all", 2: "none", 3: "single" } as const)[byte & 0x7f];
  if (outputs === undefined || byte === 0x80 || byte > 0xff) return undefined;
  return { outputs, isAnyoneCanPay: byte >= 0x80 };
}

/** Encodes the output that an input spends: its transaction and its index. */
export function outpoint({ txid, outputIndex }: Input): Uint8Array {
  return concatBytes(txid, uint32ToLittleEndian(outputIndex));
}

/** Encodes an output: its amount and its script. */
export function encodeOutput({ amountSats, script }: Output): Uint8Array {
  return concatBytes(encodeAmount(amountSats), encodeScript(script));
}

/** Encodes an amount in eight bytes. */
export function encodeAmount(amountSats: bigint): Uint8Array {
  return bigIntToLittleEndian(amountSats, 8);
}

/** Encodes a script, prefixed with its length. */
export function encodeScript(script: Uint8Array): Uint8Array {
  return concatBytes(compactSize(script.length), script);
}

/** Returns the script of a P2PKH output: DUP HASH160 <hash> EQUALVERIFY CHECKSIG. */
export function publicKeyHashScript(publicKeyHash: Uint8Array): Uint8Array {
  return concatBytes(Uint8Array.of(0x76, 0xa9, 20), publicKeyHash, Uint8Array.of(0x88, 0xac));
}

/** Encodes a version in four bytes. It may be negative. */
export function encodeVersion(version: number): Uint8Array {
  return uint32ToLittleEndian(version >>> 0);
}

/** Encodes a count or a length. */
export function compactSize(length: number): Uint8Array {
  if (length < 0xfd) return Uint8Array.of(length);
  if (length <= 0xffff) return Uint8Array.of(0xfd, length & 0xff, length >> 8);
  return concatBytes(Uint8Array.of(0xfe), uint32ToLittleEndian(length));
}
