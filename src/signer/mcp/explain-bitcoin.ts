import { bytesToHex } from "@noble/hashes/utils.js";
import { Address, OutScript } from "@scure/btc-signer";
import { TssError } from "../../client/sdk/index.ts";
import { parsePsbt, unsignedTransaction } from "../../client/signers/bitcoin/psbt-transaction.ts";
import type { Explanation } from "./explanation.ts";
import { McpError } from "./mcp-error.ts";

/** Explains a PSBT. Throws McpError VALIDATION if it is none. */
export function explainPsbt(octets: Uint8Array): Explanation {
  const { inputs, outputs } = read(octets);
  const words = [`Spends ${inputs.length} outputs, and makes ${outputs.length}.`];
  for (const { amountSats, script } of outputs.slice(0, MAX_SHOWN))
    words.push(`Pays ${coins(amountSats)} to ${placeOf(script)}.`);
  const warnings: string[] = [];
  if (outputs.length > MAX_SHOWN)
    warnings.push(`${outputs.length - MAX_SHOWN} more outputs are not explained.`);
  const spent = inputs.map((input) => input.spent?.amountSats);
  if (spent.every((amount) => amount !== undefined)) {
    const fee = sumOf(spent) - sumOf(outputs.map(({ amountSats }) => amountSats));
    words.push(`Leaves ${coins(fee)} to the miners.`);
    // Each signature commits to the amount of its own input alone, so two signatures can hide a fee.
    if (inputs.length > 1 && inputs.some(({ isProven }) => !isProven))
      warnings.push(
        "The fee is another one if an amount in the PSBT is wrong: an input does not prove its own.",
      );
  } else warnings.push("The fee is unknown: an input lacks the output that it spends.");
  return { words, warnings };
}

/** The most signatures that a PSBT can need: one for each input. Throws McpError VALIDATION if it is none. */
export function countPsbtInputs(octets: Uint8Array): number {
  return read(octets).inputs.length;
}

const MAX_SHOWN = 64;

function read(octets: Uint8Array) {
  try {
    return unsignedTransaction(parsePsbt(octets));
  } catch (error) {
    if (!(error instanceof TssError)) throw error;
    throw new McpError("VALIDATION", "payload: is not a PSBT that this server can read");
  }
}

/** The address of mainnet, or the script of an output that has none. */
function placeOf(script: Uint8Array): string {
  try {
    return Address().encode(OutScript.decode(script));
  } catch {
    return `the script ${bytesToHex(script.subarray(0, 100))}`;
  }
}

const sumOf = (amounts: readonly bigint[]) => amounts.reduce((sum, amount) => sum + amount, 0n);

function coins(sats: bigint): string {
  const digits = (sats < 0n ? -sats : sats).toString().padStart(9, "0");
  return `${sats < 0n ? "-" : ""}${digits.slice(0, -8)}.${digits.slice(-8)} BTC (${sats} satoshis)`;
}
