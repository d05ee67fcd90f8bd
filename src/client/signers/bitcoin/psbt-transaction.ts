import { bytesToHex } from "@noble/hashes/utils.js";
import { DEFAULT_SEQUENCE, Transaction } from "@scure/btc-signer";
import { equalBytes } from "../../../protocol/bytes.ts";
import { invalid } from "../../sdk/checks.ts";

/** An output of this transaction or of a previous one. */
export interface Output {
  readonly amountSats: bigint;
  readonly script: Uint8Array;
}

/** An input, as far as signatures commit to it. */
export interface Input {
  /** The transaction id in the byte order of blocks, the reverse of the displayed order. */
  readonly txid: Uint8Array;
  readonly outputIndex: number;
  readonly sequence: number;
  /** The output that it spends, if the PSBT contains it. */
  readonly spent: Output | undefined;
  /** Whether the PSBT contains the whole transaction of that output, whose id proves the amount. */
  readonly isProven: boolean;
  /** The Taproot key from which the PSBT says that the output key was made. */
  readonly internalKey: Uint8Array | undefined;
  readonly sighashType: number | undefined;
  /** Returns whether it has this key's signature or is final. */
  isSignedBy(publicKey: Uint8Array): boolean;
}

/** The parts of a transaction that signatures commit to. */
export interface UnsignedTransaction {
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly Input[];
  readonly outputs: readonly Output[];
}

/**
 * Reads a PSBT of version 0 or 2. It preserves the data of other signers, and checks a contained previous transaction
 * against the input's transaction id.
 *
 * @throws {TssError} VALIDATION when the PSBT is malformed.
 */
export function parsePsbt(psbt: Uint8Array): Transaction {
  if (!(psbt instanceof Uint8Array)) throw invalid("psbt", "must be a Uint8Array");
  try {
    return Transaction.fromPSBT(psbt, {
      allowUnknownInputs: true,
      allowUnknownOutputs: true,
      allowUnknownVersion: true,
      allowLegacyWitnessUtxo: true,
      disableScriptCheck: true,
      unknown: "ignore",
      proprietary: "ignore",
    });
  } catch (error) {
    throw invalid("psbt", `cannot be read: ${error instanceof Error ? error.message : "malformed"}`);
  }
}

/**
 * Returns the parts of a PSBT that signatures commit to.
 *
 * @throws {TssError} VALIDATION when an input or output is incomplete.
 */
export function unsignedTransaction(transaction: Transaction): UnsignedTransaction {
  const { version, lockTime, inputsLength, outputsLength } = transaction;
  const inputs = Array.from({ length: inputsLength }, (_, index) => readInput(transaction, index));
  const spends = inputs.map(({ txid, outputIndex }) => `${bytesToHex(txid)}:${outputIndex}`);
  // No block accepts such a transaction, so its signatures would waste money.
  const again = spends.findIndex((outpoint, index) => spends.indexOf(outpoint) !== index);
  if (again >= 0) throw invalid(`inputs[${again}]`, "spends the same output as another input");
  return {
    version,
    lockTime,
    inputs,
    outputs: Array.from({ length: outputsLength }, (_, index) => {
      const { amount, script } = transaction.getOutput(index);
      if (amount === undefined || script === undefined)
        throw invalid(`outputs[${index}]`, "has no amount or no script");
      return { amountSats: amount, script };
    }),
  };
}

function readInput(transaction: Transaction, index: number): Input {
  const input = transaction.getInput(index);
  const { txid, index: outputIndex, sequence, sighashType, nonWitnessUtxo } = input;
  if (txid === undefined || outputIndex === undefined)
    throw invalid(`inputs[${index}]`, "lacks the output that it spends");
  const spent = nonWitnessUtxo?.outputs[outputIndex] ?? input.witnessUtxo;
  return {
    txid: txid.toReversed(),
    outputIndex,
    sequence: sequence ?? DEFAULT_SEQUENCE,
    spent: spent && { amountSats: spent.amount, script: spent.script },
    isProven: nonWitnessUtxo !== undefined,
    internalKey: input.tapInternalKey,
    sighashType,
    isSignedBy: (publicKey) =>
      input.finalScriptWitness !== undefined ||
      input.finalScriptSig !== undefined ||
      input.tapKeySig !== undefined ||
      (input.partialSig ?? []).some(([signer]) => equalBytes(signer, publicKey)),
  };
}
