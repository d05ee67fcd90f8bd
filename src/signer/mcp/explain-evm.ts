import {
  type Abi,
  bytesToHex,
  decodeFunctionData,
  erc20Abi,
  formatEther,
  type Hex,
  parseAbi,
  parseTransaction,
  type TransactionSerializable,
} from "viem";
import type { Explanation } from "./explanation.ts";
import { McpError } from "./mcp-error.ts";
import { untrusted } from "./untrusted.ts";

/** Explains an unsigned transaction of Ethereum. Throws McpError VALIDATION if it is none. */
export function explainEvmTransaction(octets: Uint8Array): Explanation {
  let transaction: TransactionSerializable;
  try {
    transaction = parseTransaction(bytesToHex(octets));
  } catch {
    throw new McpError("VALIDATION", "payload: is not a serialized transaction of Ethereum");
  }
  const { chainId, nonce = 0, to, value = 0n, data = "0x", gas = 0n } = transaction;
  const price = transaction.maxFeePerGas ?? transaction.gasPrice ?? 0n;
  const words = [`On the chain ${chainId ?? "without an id"}, as the account's transaction ${nonce}.`];
  const warnings: string[] = [];
  if (value > 0n || data === "0x")
    words.push(`Sends ${coins(value)} of the chain's coin to ${to ?? "a new contract"}.`);
  words.push(`Pays up to ${coins(gas * price)} for gas.`);
  const { authorizationList = [] } = transaction as { readonly authorizationList?: readonly object[] };
  for (const authorization of authorizationList as readonly { readonly address?: string }[]) {
    words.push(`Gives an account the code of the contract ${authorization.address} (EIP-7702).`);
    warnings.push("The contract of an EIP-7702 authorization can do everything with its account.");
  }
  if (to === undefined || to === null) words.push(`Makes a contract with ${sizeOf(data)} bytes of code.`);
  else if (data !== "0x") explainCall(to, data, words, warnings);
  return { words, warnings };
}

/** Explains typed data (EIP-712). Throws McpError VALIDATION if it is none. */
export function explainTypedData(json: string): Explanation {
  let read: TypedData;
  try {
    read = JSON.parse(json) as TypedData;
    if (typeof read.primaryType !== "string" || !read.domain || !read.message) throw new Error("incomplete");
  } catch {
    throw new McpError("VALIDATION", "payload: is not typed data");
  }
  const { domain, message, primaryType } = read;
  const place = `the contract ${address(domain["verifyingContract"])} on the chain ${number(domain["chainId"])}`;
  const words = [`Typed data for ${place}.`];
  const warnings: string[] = [];
  const amount = wholeNumber(message["value"] ?? message["amount"]);
  switch (primaryType) {
    case "TransferWithAuthorization":
    case "ReceiveWithAuthorization":
      words.push(
        `Lets whoever has it move ${units(amount)} of that token to ${address(message["to"])} (EIP-3009).`,
      );
      break;
    case "Permit":
      words.push(`Allows ${address(message["spender"])} to take ${units(amount)} of that token (EIP-2612).`);
      warnIfUnlimited(amount, warnings);
      break;
    default:
      words.push("Its meaning is known to the contract alone; the content is below.");
      warnings.push("A signature of typed data can move tokens without a transaction of the account.");
  }
  const content = { domain, primaryType, message };
  return { words, warnings, content: untrusted(JSON.stringify(content)) };
}

interface TypedData {
  readonly domain: Readonly<Record<string, unknown>>;
  readonly message: Readonly<Record<string, unknown>>;
  readonly primaryType: unknown;
}

const CALLS = [
  ...erc20Abi,
  ...parseAbi([
    "function increaseAllowance(address spender, uint256 addedValue)",
    "function setApprovalForAll(address operator, bool approved)",
    "function safeTransferFrom(address from, address to, uint256 tokenId)",
  ]),
] as const satisfies Abi;

function explainCall(to: string, data: Hex, words: string[], warnings: string[]): void {
  const call = decode(data);
  switch (call?.functionName) {
    case "transfer":
      words.push(`Moves ${units(call.args[1])} of the token ${to} to ${call.args[0]}.`);
      break;
    case "transferFrom":
      words.push(`Moves ${units(call.args[2])} of the token ${to} from ${call.args[0]} to ${call.args[1]}.`);
      break;
    case "approve":
    case "increaseAllowance":
      words.push(`Allows ${call.args[0]} to take ${units(call.args[1])} of the token ${to}, at any time.`);
      warnIfUnlimited(call.args[1], warnings);
      break;
    case "setApprovalForAll":
      words.push(
        call.args[1]
          ? `Allows ${call.args[0]} to take every item of the collection ${to}, at any time.`
          : `Ends that ${call.args[0]} may take items of the collection ${to}.`,
      );
      if (call.args[1]) warnings.push("The approval is for everything in the collection, without a limit.");
      break;
    case "safeTransferFrom":
      words.push(
        `Moves the item ${call.args[2]} of the collection ${to} from ${call.args[0]} to ${call.args[1]}.`,
      );
      break;
    default:
      words.push(`Calls the function ${data.slice(0, 10)} of the contract ${to} with ${sizeOf(data)} bytes.`);
      warnings.push("Nobody can tell what this call does without the code of the contract.");
  }
}

function decode(data: Hex) {
  try {
    return decodeFunctionData({ abi: CALLS, data });
  } catch {
    return undefined;
  }
}

/** Contracts of tokens treat such amounts as endless, or have fewer units. */
const UNLIMITED = 2n ** 95n;

function warnIfUnlimited(amount: bigint | undefined, warnings: string[]): void {
  if (amount !== undefined && amount >= UNLIMITED)
    warnings.push(
      "The approval is UNLIMITED: the spender can take every token that the account has or will have.",
    );
}

const coins = (wei: bigint) => `${formatEther(wei)} (${wei} wei)`;
const sizeOf = (data: Hex) => (data.length - 2) / 2;

function units(amount: bigint | undefined): string {
  if (amount === undefined) return "an unreadable number of units";
  return amount >= UNLIMITED ? `an UNLIMITED number of units (${amount})` : `${amount} smallest units`;
}

function address(value: unknown): string {
  return typeof value === "string" && /^0x[0-9a-f]{40}$/i.test(value) ? value : "(none)";
}

function number(value: unknown): string {
  return /^\d{1,20}$/.test(String(value)) ? String(value) : "(none)";
}

function wholeNumber(value: unknown): bigint | undefined {
  return /^\d{1,78}$/.test(String(value)) ? BigInt(String(value)) : undefined;
}
