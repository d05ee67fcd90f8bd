import { ripemd160 } from "@noble/hashes/legacy.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex, concatBytes } from "../../protocol/bytes.ts";
import { invalid } from "../../sdk/checks.ts";
import type { MessageAlgorithm } from "../message-signer.ts";
import { witnessV0PreImage } from "./bip143.ts";
import { taprootPreImage } from "./bip341.ts";
import type { Input, Output, UnsignedTransaction } from "./psbt-transaction.ts";
import { readSighashType } from "./sighash-parts.ts";

/** Which inputs are signed, and how. */
export interface InputChoice {
  /**
   * The inputs to sign. Default all that pay to the key and have no signature of it yet. An input in this list that does
   * not is an error.
   */
  readonly inputs?: readonly number[] | undefined;
  /**
   * The sighash types that an input may ask for. Default 0 and 1, which commit to the whole transaction. Any other lets
   * somebody else change it.
   */
  readonly sighashTypes?: readonly number[] | undefined;
}

/** One signature to make. */
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

/** The signatures that a key gives to a transaction. Throws a TssError, VALIDATION, which names the input. */
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
    if (!own.includes(index)) throw invalid(`inputs[${index}]`, "does not pay to this key, or is not there");
    if (!open.includes(index)) throw invalid(`inputs[${index}]`, "is signed already");
  }
  return [...new Set(chosen ?? open)].map((index) => {
    const input = transaction.inputs[index]!;
    const kind = kindOf(input)!;
    const { amountSats } = input.spent!;
    const sighashByte = sighashByteOf(input, index, kind, sighashTypes);
    if (readSighashType(sighashByte)?.outputs === "single" && index >= transaction.outputs.length)
      throw invalid(`inputs[${index}]`, "asks for a signature of an output that is not there");
    const message =
      kind === "p2wpkh"
        ? witnessV0PreImage(transaction, index, publicKeyHash, amountSats, sighashByte)
        : taprootPreImage(transaction, index, spentOutputs(transaction), sighashByte);
    return { index, kind, amountSats, sighashByte, algorithm: ALGORITHMS[kind], message };
  });
}

function sighashByteOf(
  { sighashType }: Input,
  index: number,
  kind: PlannedInput["kind"],
  allowed: readonly number[],
): number {
  const byte = sighashType ?? (kind === "p2tr" ? 0 : 1);
  if (readSighashType(byte) === undefined || (byte === 0 && kind === "p2wpkh"))
    throw invalid(`inputs[${index}]`, `asks for the sighash type ${byte}, which there is not`);
  if (!allowed.includes(byte))
    throw invalid(`inputs[${index}]`, `asks for the sighash type ${byte}, which is not allowed`);
  return byte;
}

/** A Taproot signature commits to what every input spends. */
function spentOutputs({ inputs }: UnsignedTransaction): Output[] {
  return inputs.map(({ spent }, index) => {
    if (spent === undefined) throw invalid(`inputs[${index}]`, "does not say what it spends");
    return spent;
  });
}
