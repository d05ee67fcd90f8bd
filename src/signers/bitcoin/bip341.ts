import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { uint32ToLittleEndian } from "../../protocol/bytes.ts";
import type { Output, UnsignedTransaction } from "./psbt-transaction.ts";
import {
  encodeAmount,
  encodeOutput,
  encodeScript,
  encodeVersion,
  outpoint,
  readSighashType,
} from "./sighash-parts.ts";

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
