import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "@noble/hashes/utils.js";
import { invalid } from "../../sdk/checks.ts";
import type { MessageAlgorithm } from "../message-signer.ts";
import { witnessV0PreImage } from "./bip143.ts";
import { taprootPreImage } from "./bip341.ts";
import type { Input, Output, UnsignedTransaction } from "./psbt-transaction.ts";
import { readSighashType } from "./sighash-parts.ts";

/**
 * Plans the signatures of a key in a transaction.
 *
 * @throws {TssError} VALIDATION when an input cannot be signed; the message names it.
 */
export function planInputs(
  transaction: UnsignedTransaction,
  publicKey: Uint8Array,
  { inputs: chosen, sighashTypes = [0, 1] }: InputChoice,
): PlannedInput[] {
  const publicKeyHash = ripemd160(sha256(publicKey));
  const kinds = new Map<string, PlannedInput["kind"]>([
    [bytesToHex(concatBytes(Uint8Array.of(0, 20), publicKeyHash)), "p2wpkh"],
    [bytesToHex(concatBytes(Uint8Array.of(0x51, 32), publicKey.subarray(1))), "p2tr"],
  ]);
  const kindOf = ({ spent }: Input) => spent && kinds.get(bytesToHex(spent.script));
  const own = transaction.inputs.flatMap((input, index) => (kindOf(input) === undefined ? [] : [index]));
  if (own.length === 0) throw invalid("psbt", "has no input that pays to this key");
  const open = own.filter((index) => !transaction.inputs[index]!.isSignedBy(publicKey));
  for (const index of chosen ?? []) {
    if (!own.includes(index))
      throw invalid(`inputs[${index}]`, "does not pay to this key, or does not exist");
    if (!open.includes(index)) throw invalid(`inputs[${index}]`, "is already signed");
  }
  return [...new Set(chosen ?? open)].map((index) => {
    const input = transaction.inputs[index]!;
    const kind = kindOf(input)!;
    const { amountSats } = input.spent!;
    const sighashByte = sighashByteOf(input, index, kind, sighashTypes);
    if (readSighashType(sighashByte)?.outputs === "single" && index >= transaction.outputs.length)
      throw invalid(`inputs[${index}]`, "asks for a signature of an output that does not exist");
    const message =
      kind === "p2wpkh"
        ? witnessV0PreImage(transaction, index, publicKeyHash, amountSats, sighashByte)
        : taprootPreImage(transaction, index, spentOutputs(transaction), sighashByte);
    return { index, kind, amountSats, sighashByte, algorithm: ALGORITHMS[kind], message };
  });
}

/** Selects the inputs to sign and the accepted sighash types. */
export interface InputChoice {
  /**
   * The indices of the inputs to sign. An input in this list that does not pay to the key, or already has its
   * signature, is an error. Default: all inputs that pay to the key and do not have its signature yet.
   */
  readonly inputs?: readonly number[] | undefined;
  /**
   * The accepted sighash types. Default: 0 and 1, which commit to the whole transaction. Any other type lets a third
   * party change it.
   */
  readonly sighashTypes?: readonly number[] | undefined;
}

export interface PlannedInput {
  readonly index: number;
  readonly kind: "p2wpkh" | "p2tr";
  readonly amountSats: bigint;
  readonly sighashByte: number;
  readonly algorithm: MessageAlgorithm;
  readonly message: Uint8Array;
}

const ALGORITHMS = {
  p2wpkh: { curve: "SECP256K1", signatureAlgorithm: "ECDSASecp256k1", hashScheme: "DoubleSHA256" },
  p2tr: { curve: "SECP256K1", signatureAlgorithm: "Taproot", hashScheme: "SHA256" },
} as const;

function sighashByteOf(
  { sighashType }: Input,
  index: number,
  kind: PlannedInput["kind"],
  allowed: readonly number[],
): number {
  const byte = sighashType ?? (kind === "p2tr" ? 0 : 1);
  if (readSighashType(byte) === undefined || (byte === 0 && kind === "p2wpkh"))
    throw invalid(`inputs[${index}]`, `asks for the sighash type ${byte}, which does not exist`);
  if (!allowed.includes(byte))
    throw invalid(`inputs[${index}]`, `asks for the sighash type ${byte}, which is not allowed`);
  return byte;
}

/** Returns the outputs that all inputs spend. A Taproot signature commits to them. */
function spentOutputs({ inputs }: UnsignedTransaction): Output[] {
  return inputs.map(({ spent }, index) => {
    if (spent === undefined) throw invalid(`inputs[${index}]`, "lacks the output that it spends");
    return spent;
  });
}
