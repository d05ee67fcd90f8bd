import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { bigIntToLittleEndian, uint32ToLittleEndian } from "../../../protocol/bytes.ts";
import type { Input, Output, UnsignedTransaction } from "./psbt-transaction.ts";

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

/**
 * Encodes the BIP-143 pre-image of an input that spends a P2WPKH output, also inside P2SH: the message of an ECDSA
 * signature with DoubleSHA256. `publicKeyHash` is that of the output.
 */
export function witnessV0PreImage(
  { version, lockTime, inputs, outputs }: UnsignedTransaction,
  index: number,
  publicKeyHash: Uint8Array,
  amountSats: bigint,
  sighashByte: number,
): Uint8Array {
  const type = readSighashType(sighashByte);
  const input = inputs[index];
  if (type === undefined || input === undefined) throw new RangeError("no such input or sighash type");
  const all = { isInputs: !type.isAnyoneCanPay, isOutputs: type.outputs === "all" };
  const own = outputs[index];
  return concatBytes(
    encodeVersion(version),
    all.isInputs ? doubleSha256(...inputs.map(outpoint)) : ZEROS,
    all.isInputs && all.isOutputs
      ? doubleSha256(...inputs.map(({ sequence }) => uint32ToLittleEndian(sequence)))
      : ZEROS,
    outpoint(input),
    encodeScript(publicKeyHashScript(publicKeyHash)),
    encodeAmount(amountSats),
    uint32ToLittleEndian(input.sequence),
    all.isOutputs
      ? doubleSha256(...outputs.map(encodeOutput))
      : type.outputs === "single" && own !== undefined
        ? doubleSha256(encodeOutput(own))
        : ZEROS,
    uint32ToLittleEndian(lockTime),
    uint32ToLittleEndian(sighashByte),
  );
}

const ZEROS = new Uint8Array(32);

function doubleSha256(...parts: readonly Uint8Array[]): Uint8Array {
  return sha256(sha256(concatBytes(...parts)));
}

/**
 * Encodes the BIP-341 pre-image of an input that spends a Taproot output by its key: the tag twice, the epoch, and the
 * common signature message. It is the message of a Taproot signature with SHA256. `spent` contains the outputs that the
 * inputs spend, in their order.
 */
export function taprootPreImage(
  { version, lockTime, inputs, outputs }: UnsignedTransaction,
  index: number,
  spent: readonly Output[],
  sighashByte: number,
): Uint8Array {
  const type = readSighashType(sighashByte);
  const input = inputs[index];
  const own = { spent: spent[index], output: outputs[index] };
  if (type === undefined || input === undefined || own.spent === undefined)
    throw new RangeError("no such input or sighash type");
  const wholeInputs = [
    sha256(concatBytes(...inputs.map(outpoint))),
    sha256(concatBytes(...spent.map(({ amountSats }) => encodeAmount(amountSats)))),
    sha256(concatBytes(...spent.map(({ script }) => encodeScript(script)))),
    sha256(concatBytes(...inputs.map(({ sequence }) => uint32ToLittleEndian(sequence)))),
  ];
  const ownInput = [outpoint(input), encodeOutput(own.spent), uint32ToLittleEndian(input.sequence)];
  return concatBytes(
    TAG,
    TAG,
    Uint8Array.of(EPOCH, sighashByte),
    encodeVersion(version),
    uint32ToLittleEndian(lockTime),
    ...(type.isAnyoneCanPay ? [] : wholeInputs),
    ...(type.outputs === "all" ? [sha256(concatBytes(...outputs.map(encodeOutput)))] : []),
    Uint8Array.of(SPENT_BY_KEY),
    ...(type.isAnyoneCanPay ? ownInput : [uint32ToLittleEndian(index)]),
    ...(type.outputs === "single" && own.output !== undefined ? [sha256(encodeOutput(own.output))] : []),
  );
}

const TAG = sha256(new TextEncoder().encode("TapSighash"));
const EPOCH = 0;
/** Spend type: no script path and no annex. */
const SPENT_BY_KEY = 0;

/**
 * Encodes the pre-image of an input that spends a P2PKH output: the transaction, with the spent script in this input.
 * It is the message of an ECDSA signature with DoubleSHA256. It contains no amount of a spent output, so the caller
 * must know them from the previous transactions.
 */
export function legacyPreImage(
  { version, lockTime, inputs, outputs }: UnsignedTransaction,
  index: number,
  publicKeyHash: Uint8Array,
  sighashByte: number,
): Uint8Array {
  const type = readSighashType(sighashByte);
  const own = inputs[index];
  if (type === undefined || own === undefined) throw new RangeError("no such input or sighash type");
  const shownInputs = type.isAnyoneCanPay ? [own] : inputs;
  const shownOutputs = {
    all: outputs,
    none: [],
    single: outputs.slice(0, index + 1).map((output, at) => (at === index ? output : BLANK)),
  }[type.outputs];
  return concatBytes(
    encodeVersion(version),
    compactSize(shownInputs.length),
    ...shownInputs.flatMap((input) => [
      outpoint(input),
      encodeScript(input === own ? publicKeyHashScript(publicKeyHash) : new Uint8Array()),
      uint32ToLittleEndian(input === own || type.outputs === "all" ? input.sequence : 0),
    ]),
    compactSize(shownOutputs.length),
    ...shownOutputs.map(encodeOutput),
    uint32ToLittleEndian(lockTime),
    uint32ToLittleEndian(sighashByte),
  );
}

/** Stands for each output before the only one that a signature commits to. */
const BLANK: Output = { amountSats: 0xffff_ffff_ffff_ffffn, script: new Uint8Array() };
