import {
  type CompiledTransactionMessage,
  getBase58Decoder,
  getCompiledTransactionMessageDecoder,
  getTransactionDecoder,
} from "@solana/kit";
import type { Explanation } from "./explanation.ts";
import { McpError } from "./mcp-error.ts";

/** Explains a transaction of Solana. Throws McpError VALIDATION if it is none. */
export function explainSolana(octets: Uint8Array): Explanation {
  let message: CompiledTransactionMessage;
  try {
    message = getCompiledTransactionMessageDecoder().decode(
      getTransactionDecoder().decode(octets).messageBytes,
    );
  } catch {
    throw new McpError("VALIDATION", "payload: is not a serialized transaction of Solana");
  }
  const { staticAccounts, header } = message;
  const words = [`${staticAccounts[0]} pays the fee.`];
  if (header.numSignerAccounts > 1)
    words.push(`${staticAccounts.slice(0, header.numSignerAccounts).join(", ")} must sign.`);
  const warnings: string[] = [];
  const instructions = instructionsOf(message);
  for (const { programAddressIndex, accountIndices = [], data = new Uint8Array() } of instructions.slice(
    0,
    MAX_SHOWN,
  )) {
    const program = staticAccounts[programAddressIndex] ?? "a program of a lookup table";
    const accounts = accountIndices.map((index) =>
      String(staticAccounts[index] ?? "an account of a lookup table"),
    );
    words.push(explainInstruction(program, accounts, Uint8Array.from(data), warnings));
  }
  if (instructions.length > MAX_SHOWN)
    warnings.push(`${instructions.length - MAX_SHOWN} more instructions are not explained.`);
  return { words, warnings };
}

const MAX_SHOWN = 64;
const SYSTEM = "11111111111111111111111111111111";
const TOKENS = new Set([
  "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA",
  "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
]);
const COMPUTE_BUDGET = "ComputeBudget111111111111111111111111111111";
const QUIET = new Map([
  [COMPUTE_BUDGET, "Sets the limits of computation."],
  ["MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr", "Adds a memo."],
]);

interface Instruction {
  readonly programAddressIndex: number;
  readonly accountIndices?: readonly number[];
  readonly data?: ArrayLike<number>;
}

function instructionsOf(message: CompiledTransactionMessage): readonly Instruction[] {
  if (!("instructions" in message))
    throw new McpError(
      "VALIDATION",
      "payload: is a transaction of a version that this server cannot explain",
    );
  return message.instructions as readonly Instruction[];
}

function explainInstruction(
  program: string,
  accounts: readonly string[],
  data: Uint8Array,
  warnings: string[],
): string {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [first = "(none)", second = "(none)", third = "(none)"] = accounts;
  if (program === SYSTEM && data.length === 12 && view.getUint32(0, true) === 2)
    return `Sends ${lamports(view.getBigUint64(4, true))} from ${first} to ${second}.`;
  if (TOKENS.has(program) && data.length >= 9) {
    const amount = view.getBigUint64(1, true);
    switch (Number(data[0])) {
      case 3:
        return `Moves ${amount} smallest units of a token from the token account ${first} to ${second}.`;
      case 12:
        return `Moves ${amount} smallest units of the token ${second} from the token account ${first} to ${third}.`;
      case 4:
      case 13:
        if (amount >= UNLIMITED) warnings.push("The approval is UNLIMITED.");
        return `Allows ${data[0] === 4 ? second : third} to take ${amount} smallest units from the token account ${first}.`;
    }
  }
  if (program === COMPUTE_BUDGET && data.length >= 9 && data[0] === 3) {
    const price = view.getBigUint64(1, true);
    return `Pays a further fee of up to ${lamports((price * MAX_COMPUTE_UNITS) / 1_000_000n)} (${price} micro-lamports for each unit of computation).`;
  }
  const quiet = QUIET.get(program);
  if (quiet !== undefined) return quiet;
  if (TOKENS.has(program) && data[0] === 6)
    warnings.push("It can give the authority over a token account to somebody else.");
  warnings.push(`Nobody can tell what the call of ${program} does without its code.`);
  return `Calls the program ${program} with ${data.length} bytes, which begin with ${beginOf(data)}.`;
}

const UNLIMITED = 2n ** 63n;
/** The most that one transaction can use. */
const MAX_COMPUTE_UNITS = 1_400_000n;

function lamports(amount: bigint): string {
  const digits = amount.toString().padStart(10, "0");
  return `${digits.slice(0, -9)}.${digits.slice(-9)} SOL (${amount} lamports)`;
}

function beginOf(data: Uint8Array): string {
  return data.length === 0 ? "nothing" : getBase58Decoder().decode(data.slice(0, 8));
}
