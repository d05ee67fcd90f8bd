import { sha256 } from "@noble/hashes/sha2.js";
import { concatBytes } from "@noble/hashes/utils.js";
import { uint32ToLittleEndian } from "../../protocol/bytes.ts";
import type { UnsignedTransaction } from "./psbt-transaction.ts";
import {
  encodeAmount,
  encodeOutput,
  encodeScript,
  encodeVersion,
  outpoint,
  publicKeyHashScript,
  readSighashType,
} from "./sighash-parts.ts";

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
