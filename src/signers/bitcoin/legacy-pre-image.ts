import { concatBytes } from "@noble/hashes/utils.js";
import { uint32ToLittleEndian } from "../../protocol/bytes.ts";
import type { Output, UnsignedTransaction } from "./psbt-transaction.ts";
import {
  compactSize,
  encodeOutput,
  encodeScript,
  encodeVersion,
  outpoint,
  publicKeyHashScript,
  readSighashType,
} from "./sighash-parts.ts";

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
