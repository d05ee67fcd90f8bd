import { DEFAULT_SEQUENCE, Transaction } from "@scure/btc-signer";
import { bytesToHex, equalBytes } from "../../protocol/bytes.ts";
import { invalid } from "../../sdk/checks.ts";

/** An output that is there or that is spent. */
export interface Output {
  readonly amountSats: bigint;
  readonly script: Uint8Array;
}

/** One input, as far as signatures commit to it. */
export interface Input {
  /** As a block has it, which is the reverse of how it is shown. */
  readonly txid: Uint8Array;
  readonly outputIndex: number;
  readonly sequence: number;
  /** What it spends, where the PSBT says it. */
  readonly spent: Output | undefined;
  readonly sighashType: number | undefined;
  /** Whether it has a signature, or a final witness. */
  isSignedBy(publicKey: Uint8Array): boolean;
}

/** What signatures commit to in a transaction. */
export interface UnsignedTransaction {
  readonly version: number;
  readonly lockTime: number;
  readonly inputs: readonly Input[];
  readonly outputs: readonly Output[];
}

/**
 * Reads a PSBT of version 0 or 2. Whatever belongs to other signers is kept as it is. A previous transaction that is in it is
 * checked against the input's transaction id. Throws a TssError, VALIDATION.
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

/** What signatures commit to in a PSBT. Throws a TssError, VALIDATION, for inputs or outputs that say too little. */
export function unsignedTransaction(transaction: Transaction): UnsignedTransaction {
  const { version, lockTime, inputsLength, outputsLength } = transaction;
  const inputs = Array.from({ length: inputsLength }, (_, index) => readInput(transaction, index));
  const spends = inputs.map(({ txid, outputIndex }) => `${bytesToHex(txid)}:${outputIndex}`);
  // No block takes such a transaction, so its signatures would be paid for in vain.
  const again = spends.findIndex((outpoint, index) => spends.indexOf(outpoint) !== index);
  if (again >= 0) throw invalid(`inputs[${again}]`, "spends what another input spends");
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
    throw invalid(`inputs[${index}]`, "does not say what it spends");
  const spent = nonWitnessUtxo?.outputs[outputIndex] ?? input.witnessUtxo;
  return {
    txid: txid.toReversed(),
    outputIndex,
    sequence: sequence ?? DEFAULT_SEQUENCE,
    spent: spent && { amountSats: spent.amount, script: spent.script },
    sighashType,
    isSignedBy: (publicKey) =>
      input.finalScriptWitness !== undefined ||
      input.tapKeySig !== undefined ||
      (input.partialSig ?? []).some(([signer]) => equalBytes(signer, publicKey)),
  };
}
